//! ONNX files as Protocol Buffers, before the parser sees them.
//!
//! The parser, rten-onnx, believes the lengths that a file states, follows any number of graphs inside
//! graphs, and knows only one of the two encodings of lists: the packed one is missing for sizes and
//! attributes. So lengths and depth are checked here, and packed lists unpacked.

/// Messages inside messages; a network without branches has 5.
const MAX_DEPTH: usize = 32;

/// A field of an ONNX message, as far as it matters here.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    Value,
    Type,
    TensorType,
    Sequence,
    Shape,
    /// A message without messages or lists in it.
    Flat,
    /// Integers of variable length, one by one or packed.
    Integers,
    /// Four bytes each, one by one or packed.
    Floats,
    /// Bytes, a string, or packed numbers that the parser reads.
    Bytes,
}

/// What field `number` of a message is (onnx.proto).
fn field(message: Kind, number: u64) -> Kind {
    match (message, number) {
        (Kind::Model, 7) | (Kind::Attribute, 6) => Kind::Graph,
        (Kind::Model, 8 | 14) | (Kind::Tensor, 13) | (Kind::Shape, 1) => Kind::Flat,
        (Kind::Graph, 1) => Kind::Node,
        (Kind::Graph, 5) | (Kind::Attribute, 5) => Kind::Tensor,
        (Kind::Graph, 11..=13) => Kind::Value,
        (Kind::Node, 5) => Kind::Attribute,
        (Kind::Attribute, 8) | (Kind::Tensor, 1) => Kind::Integers,
        (Kind::Attribute, 7) => Kind::Floats,
        (Kind::Value, 2) | (Kind::Sequence, 1) => Kind::Type,
        (Kind::Type, 1) => Kind::TensorType,
        (Kind::Type, 4) => Kind::Sequence,
        (Kind::TensorType, 2) => Kind::Shape,
        _ => Kind::Bytes,
    }
}

/// A model's file with no packed list of sizes or attributes. `None` if it is damaged.
pub fn plain(file: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(file.len());
    copy(Kind::Model, file, &mut plain, MAX_DEPTH)?;
    Some(plain)
}

/// Copies the fields of a message.
fn copy(message: Kind, mut from: &[u8], to: &mut Vec<u8>, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    while !from.is_empty() {
        let key = take_integer(&mut from)?;
        let number = key >> 3;
        let bytes = match key & 7 {
            0 => {
                let value = take_integer(&mut from)?;
                put_integer(key, to);
                put_integer(value, to);
                continue;
            }
            1 => from.split_off(..8)?,
            5 => from.split_off(..4)?,
            2 => {
                let length = usize::try_from(take_integer(&mut from)?).ok()?;
                let bytes = from.split_off(..length)?;
                copy_long(field(message, number), number, bytes, to, depth)?;
                continue;
            }
            _ => return None,
        };
        put_integer(key, to);
        to.extend_from_slice(bytes);
    }
    Some(())
}

/// Copies a field that states its length.
fn copy_long(kind: Kind, number: u64, bytes: &[u8], to: &mut Vec<u8>, depth: usize) -> Option<()> {
    let mut rest = bytes;
    match kind {
        Kind::Bytes => put_long(number, bytes, to),
        Kind::Integers => {
            while !rest.is_empty() {
                let value = take_integer(&mut rest)?;
                put_integer(number << 3, to);
                put_integer(value, to);
            }
        }
        Kind::Floats => {
            while !rest.is_empty() {
                let value = rest.split_off(..4)?;
                put_integer(number << 3 | 5, to);
                to.extend_from_slice(value);
            }
        }
        message => {
            let mut inner = Vec::with_capacity(bytes.len());
            copy(message, bytes, &mut inner, depth)?;
            put_long(number, &inner, to);
        }
    }
    Some(())
}

fn put_long(number: u64, bytes: &[u8], to: &mut Vec<u8>) {
    put_integer(number << 3 | 2, to);
    put_integer(bytes.len() as u64, to);
    to.extend_from_slice(bytes);
}

/// Seven bits a byte, the lowest first; the eighth bit says that more follow.
fn put_integer(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn take_integer(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *from.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn long(number: u64, bytes: &[u8]) -> Vec<u8> {
        let mut field = Vec::new();
        put_long(number, bytes, &mut field);
        field
    }

    /// A model with one node with one attribute, or with one weight.
    fn with_attribute(attribute: &[u8]) -> Vec<u8> {
        long(7, &long(1, &long(5, attribute)))
    }

    fn with_weight(tensor: &[u8]) -> Vec<u8> {
        long(7, &long(5, tensor))
    }

    #[test]
    fn packed_lists_are_unpacked() {
        let packed = long(8, &[3, 0xac, 2]);
        let list = [8 << 3, 3, 8 << 3, 0xac, 2];
        assert_eq!(plain(&with_attribute(&packed)), Some(with_attribute(&list)));
        let packed = long(7, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let list = [7 << 3 | 5, 1, 2, 3, 4, 7 << 3 | 5, 5, 6, 7, 8];
        assert_eq!(plain(&with_attribute(&packed)), Some(with_attribute(&list)));
        assert_eq!(plain(&with_weight(&long(1, &[6, 7]))), Some(with_weight(&[8, 6, 8, 7])));
        // Four bytes a number: these are three.
        assert_eq!(plain(&with_attribute(&long(7, &[1, 2, 3]))), None);
    }

    #[test]
    fn other_files_stay_the_same() {
        for network in ["tiny", "rare", "two"] {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
            let file = std::fs::read(format!("{folder}/{network}.onnx")).unwrap();
            assert!(plain(&file) == Some(file), "{network}");
        }
    }

    #[test]
    fn false_lengths_and_deep_graphs_are_refused() {
        for length in [4, 1 << 20, 1 << 62, u64::MAX] {
            let mut name = vec![8 << 3 | 2];
            put_integer(length, &mut name);
            name.extend([0; 3]);
            assert_eq!(plain(&with_weight(&name)), None, "{length}");
        }
        // An integer longer than 64 bits.
        assert_eq!(plain(&[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]), None);
        let nested = |graphs: usize| {
            let inner =
                (1..graphs).fold(Vec::new(), |graph, _| long(1, &long(5, &long(6, &graph))));
            long(7, &inner)
        };
        assert!(plain(&nested(10)).is_some());
        assert_eq!(plain(&nested(2000)), None);
    }
}
