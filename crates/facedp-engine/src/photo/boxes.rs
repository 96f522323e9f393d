//! The boxes of a HEIC file, for reports of what is left out.

/// The name of a box, and its body.
type Named<'a> = (&'a [u8; 4], &'a [u8]);

/// Kinds of data besides the primary picture, EXIF and XMP.
pub(super) fn kinds(file: &[u8]) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    let (top, end) = children(file);
    for (name, body) in top {
        match name {
            b"ftyp" | b"mdat" => {}
            b"meta" => kinds.extend(of_meta(body.get(4..).unwrap_or_default())),
            b"moov" => kinds.push("further pictures"),
            b"free" | b"skip" if body.iter().all(|byte| *byte == 0) => {}
            _ => kinds.push("other data"),
        }
    }
    if file[end..].iter().any(|byte| *byte != 0) {
        kinds.push("data after the picture");
    }
    kinds
}

fn of_meta(meta: &[u8]) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    let items = Items::read(meta);
    kinds.extend(items.has_further_pictures().then_some("further pictures"));
    kinds.extend(items.has_other_data().then_some("other data"));
    for (name, body) in children(meta).0 {
        match name {
            // References between pictures, each a box of its own.
            b"iref" => {
                let references = children(body.get(4..).unwrap_or_default()).0;
                if references.iter().any(|(name, _)| *name == b"thmb") {
                    kinds.push("thumbnail");
                }
            }
            b"iprp" => {
                let properties = children(body).0.into_iter().filter(|(name, _)| *name == b"ipco");
                let properties = properties.flat_map(|(_, all)| children(all).0);
                let is_map = |(name, body): &Named<'_>| {
                    *name == b"auxC" && !body.windows(5).any(|w| w == b"alpha" || w == b":hevc")
                };
                if properties.collect::<Vec<_>>().iter().any(is_map) {
                    kinds.push("further pictures");
                }
            }
            _ => {}
        }
    }
    kinds
}

/// The boxes in a stretch of bytes, and where they end.
fn children(bytes: &[u8]) -> (Vec<Named<'_>>, usize) {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some((head, _)) = bytes[at..].split_first_chunk::<8>() {
        let [a, b, c, d, ..] = *head;
        let (start, size) = match u32::from_be_bytes([a, b, c, d]) as usize {
            0 => (8, bytes.len() - at),
            1 => {
                let Some(long) = bytes.get(at + 8..at + 16) else { break };
                let long = long.iter().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
                (16, usize::try_from(long).unwrap_or(usize::MAX))
            }
            size => (8, size),
        };
        let end = at.checked_add(size).filter(|end| *end <= bytes.len() && size >= start);
        let (Some(end), Some(name)) = (end, bytes[at + 4..].first_chunk::<4>()) else { break };
        found.push((name, &bytes[at + start..end]));
        at = end;
    }
    (found, at)
}

/// The items of a file, and what they are of each other.
#[derive(Default)]
struct Items {
    primary: u32,
    /// Number and type.
    all: Vec<(u32, [u8; 4])>,
    /// Type of a reference, from which item, to which.
    references: Vec<([u8; 4], u32, Vec<u32>)>,
}

impl Items {
    fn read(meta: &[u8]) -> Self {
        let mut items = Self::default();
        for (name, body) in children(meta).0 {
            let mut body = Numbers(body);
            match name {
                b"pitm" => {
                    let wide = body.take(4) >> 24 > 0;
                    items.primary = body.take(if wide { 4 } else { 2 });
                }
                b"iinf" => {
                    let wide = body.take(4) >> 24 > 0;
                    body.take(if wide { 4 } else { 2 });
                    items.all =
                        children(body.0).0.into_iter().map(|(_, item)| item_of(item)).collect();
                }
                b"iref" => {
                    let bytes = if body.take(4) >> 24 > 0 { 4 } else { 2 };
                    items.references = children(body.0)
                        .0
                        .into_iter()
                        .map(|(name, body)| {
                            let mut body = Numbers(body);
                            let (from, count) = (body.take(bytes), body.take(2));
                            let to = (0..count)
                                .map_while(|_| (!body.0.is_empty()).then(|| body.take(bytes)));
                            (*name, from, to.collect())
                        })
                        .collect();
                }
                _ => {}
            }
        }
        items
    }

    /// Whether there are pictures that are no part of the primary one, nor of what is said of it: thumbnails, and
    /// pictures that belong to another one, are listed by what they are.
    fn has_further_pictures(&self) -> bool {
        let mut known = vec![self.primary];
        known.extend(
            self.references
                .iter()
                .filter_map(|(name, from, _)| [b"thmb", b"auxl"].contains(&name).then_some(*from)),
        );
        let mut at = 0;
        // Each picture is added once, so this ends.
        while let Some(item) = known.get(at).copied() {
            let parts =
                self.references.iter().filter(|(name, from, _)| name == b"dimg" && *from == item);
            for part in parts.flat_map(|(.., to)| to) {
                if !known.contains(part) {
                    known.push(*part);
                }
            }
            at += 1;
        }
        self.all.iter().any(|(item, kind)| !is_data(kind) && !known.contains(item))
    }

    /// Whether there is more than EXIF and XMP once: items that are no pictures.
    fn has_other_data(&self) -> bool {
        let count = |kind: &[u8; 4]| self.all.iter().filter(|(_, of)| of == kind).count();
        count(b"Exif") > 1 || count(b"mime") > 1 || count(b"uri ") > 0
    }
}

/// Whether items of a type are no pictures.
fn is_data(kind: &[u8; 4]) -> bool {
    [b"Exif", b"mime", b"uri "].contains(&kind)
}

/// Number and type of an item, from its box.
fn item_of(body: &[u8]) -> (u32, [u8; 4]) {
    let mut numbers = Numbers(body);
    let version = numbers.take(4) >> 24;
    let item = numbers.take(if version > 2 { 4 } else { 2 });
    numbers.take(2);
    (item, numbers.take(4).to_be_bytes())
}

/// Numbers one after the other; zero after the end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn take(&mut self, bytes: usize) -> u32 {
        let (number, rest) = self.0.split_at(bytes.min(self.0.len()));
        self.0 = rest;
        number.iter().fold(0, |all, byte| all << 8 | u32::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
        [&(body.len() as u32 + 8).to_be_bytes()[..], name, body].concat()
    }

    /// A file with items and references between them; the first item is the primary one.
    fn file(items: &[(u8, &[u8; 4])], references: &[(&[u8; 4], u8, u8)]) -> Vec<u8> {
        let item = |(number, kind): &(u8, &[u8; 4])| {
            boxed(b"infe", &[&[2, 0, 0, 0, 0, *number, 0, 0], &kind[..], &[0]].concat())
        };
        let reference =
            |(name, from, to): &(&[u8; 4], u8, u8)| boxed(name, &[0, *from, 0, 1, 0, *to]);
        let items_box =
            [vec![0, 0, 0, 0, 0, items.len() as u8], items.iter().flat_map(item).collect()];
        let references_box = [vec![0; 4], references.iter().flat_map(reference).collect()];
        let meta = [
            vec![0; 4],
            boxed(b"pitm", &[0, 0, 0, 0, 0, items[0].0]),
            boxed(b"iinf", &items_box.concat()),
            boxed(b"iref", &references_box.concat()),
        ];
        boxed(b"meta", &meta.concat())
    }

    #[test]
    fn pictures_that_belong_to_nothing_are_listed() {
        let one: (u8, &[u8; 4]) = (1, b"grid");
        let tiles: [(u8, &[u8; 4]); 4] = [one, (2, b"hvc1"), (3, b"hvc1"), (4, b"Exif")];
        let parts: [(&[u8; 4], u8, u8); 3] = [(b"dimg", 1, 2), (b"dimg", 1, 3), (b"cdsc", 4, 1)];
        assert!(kinds(&file(&tiles, &parts)).is_empty());
        assert_eq!(kinds(&file(&tiles, &parts[..1])), ["further pictures"]);
        assert_eq!(kinds(&file(&[one, (2, b"hvc1")], &[])), ["further pictures"]);
        assert_eq!(kinds(&file(&[one, (2, b"hvc1")], &[(b"thmb", 2, 1)])), ["thumbnail"]);
        // A picture that is made of the primary one is another one.
        assert_eq!(kinds(&file(&[one, (2, b"tmap")], &[(b"dimg", 2, 1)])), ["further pictures"]);
        assert_eq!(kinds(&file(&[one, (2, b"mime"), (3, b"mime")], &[])), ["other data"]);
    }
}
