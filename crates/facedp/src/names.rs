//! Enums that are chosen by name: on the command line, in JSON and in Python.

/// Gives an enum without fields its `NAMES`, `Display` and `FromStr`. The error names the kind of
/// thing (the literal after the enum) and lists the known names.
///
/// ```
/// #[derive(Debug, PartialEq)]
/// enum Size { Small, Large }
/// facedp::names!(Size, "size", Small = "small" | "s", Large = "large");
///
/// assert_eq!("s".parse(), Ok(Size::Small));
/// assert_eq!(Size::Large.to_string(), "large");
/// assert_eq!(
///     "huge".parse::<Size>().unwrap_err().to_string(),
///     "unknown size `huge`: not one of small, large"
/// );
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! names {
    ($kind:ident, $what:literal, $($variant:ident = $name:literal $(| $alias:literal)*),+ $(,)?) => {
        impl $kind {
            /// Each name, with the other spellings that are accepted.
            pub const NAMES: &[(&str, &[&str])] = &[$(($name, &[$($alias),*])),+];
        }

        impl ::std::fmt::Display for $kind {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(match self { $($kind::$variant => $name),+ })
            }
        }

        impl ::std::str::FromStr for $kind {
            type Err = $crate::Error;

            fn from_str(name: &str) -> $crate::Result<Self> {
                match name {
                    $($name $(| $alias)* => Ok($kind::$variant),)+
                    _ => Err($crate::Error::Name {
                        kind: $what,
                        name: name.to_owned(),
                        known: [$($name),+].join(", "),
                    }),
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::basis::BasisKind;
    use crate::certified::Mechanism;
    use crate::method::{Preset, Sensitivity};
    use crate::rank::Ranking;

    /// The name a value is parsed from and printed as is also its name in JSON.
    #[test]
    fn names_are_those_of_json() {
        macro_rules! check {
            ($($kind:ident),+) => {$(
                for (name, aliases) in $kind::NAMES {
                    let value: $kind = name.parse().unwrap();
                    assert_eq!(value.to_string(), *name);
                    assert_eq!(serde_json::to_value(value).unwrap(), *name);
                    for alias in *aliases {
                        assert_eq!(alias.parse(), Ok(value));
                    }
                }
                assert!("".parse::<$kind>().is_err());
            )+};
        }
        check!(Preset, Ranking, Sensitivity, Mechanism, BasisKind);
        assert_eq!(format!("[{:<8}]", Mechanism::Knorm), "[knorm   ]");
    }
}
