//! Entries of the ledger, and their stored form.

use std::time::{SystemTime, UNIX_EPOCH};

use facedp::Claim;
use serde::{Deserialize, Serialize};

/// Version of the entry format. Version 1 recorded only methods with a budget, and not their names; lines
/// without a version are of version 1 too.
const SCHEMA: u32 = 2;

/// A release of a photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    #[serde(default = "first_schema")]
    pub(crate) schema: u32,
    /// BLAKE3 of the photo's pixels, in hexadecimal.
    pub photo: String,
    #[serde(default)]
    pub method: String,
    /// Budget of each face; none if the method has no budget.
    pub epsilon: Option<f64>,
    pub claim: Claim,
    /// Number of treated faces.
    pub faces: usize,
    /// Identifies repeatable results: the same result again costs nothing. None for fresh noise.
    pub noise: Option<String>,
    /// Identifies what of the photo was hidden; none if nothing was.
    #[serde(default)]
    pub split: Option<String>,
    /// Unix time in seconds.
    pub when: u64,
}

fn first_schema() -> u32 {
    1
}

impl Entry {
    /// A release that claims nothing, now.
    pub(crate) fn new(photo: &[u8; 32], method: &str, faces: usize) -> Self {
        let when = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        Self {
            schema: SCHEMA,
            photo: photo_name(photo),
            method: method.to_owned(),
            epsilon: None,
            claim: Claim::None,
            faces,
            noise: None,
            split: None,
            when,
        }
    }

    /// Reads a line of a ledger. The error continues "line 3 ...".
    pub(super) fn from_json(line: &str) -> Result<Self, String> {
        let entry: Self = serde_json::from_str(line).map_err(|_| "is not an entry".to_owned())?;
        let method = match (entry.schema, entry.claim) {
            (SCHEMA, _) => return Ok(entry),
            (1, Claim::EpsDpFeatures) => "certified",
            (1, _) => "a method of the paper",
            (found, _) => return Err(format!("has format {found}, and {SCHEMA} is known")),
        };
        Ok(Self { schema: SCHEMA, method: method.to_owned(), ..entry })
    }

    /// Whether both are the same release, which shows nothing new.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        let same = self.photo == other.photo && self.method == other.method;
        same && self.claim == other.claim && self.noise.is_some() && self.noise == other.noise
    }
}

/// The identifier of a photo in ledgers: its digest in hexadecimal.
pub fn photo_name(photo: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*photo).to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Ledgers must stay readable: these lines must never change.
    #[test]
    fn entries_keep_their_format() {
        let entry = Entry {
            epsilon: Some(0.5),
            claim: Claim::EpsDpFeatures,
            noise: Some("n".to_owned()),
            split: Some("s".to_owned()),
            when: 7,
            ..Entry::new(&[1; 32], "certified", 2)
        };
        let photo = format!(r#""photo":"{}""#, "01".repeat(32));
        let rest = r#""claim":"eps-dp-features","faces":2,"noise":"n","split":"s","when":7}"#;
        let line = format!(r#"{{"schema":2,{photo},"method":"certified","epsilon":0.5,{rest}"#);
        assert_eq!(serde_json::to_string(&entry).unwrap(), line);
        assert_eq!(Entry::from_json(&line).unwrap(), entry);
        // Lines of the first format, with and without its number.
        for schema in ["", r#""schema":1,"#] {
            let old = format!(r#"{{{schema}{photo},"epsilon":0.5,{rest}"#);
            assert_eq!(Entry::from_json(&old).unwrap(), entry);
        }
        let newer = line.replace("\"schema\":2", "\"schema\":3");
        assert_eq!(Entry::from_json(&newer).unwrap_err(), "has format 3, and 2 is known");
    }
}
