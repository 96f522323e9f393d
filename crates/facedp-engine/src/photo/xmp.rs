//! XMP packets: copying the properties that are safe to keep into a new packet.
//!
//! A packet is RDF in XML and can hold anything: pictures in base64 under any name, names of people, regions
//! of faces. So nothing of a packet is kept but the text of known properties.

use roxmltree::{Document, Node, ParsingOptions};

use super::plain::{Room, Together, is_plain};

/// Longer packets are dropped: about what fits in one JPEG segment.
const MAX_BYTES: usize = 65_000;
/// Parts of a packet; packets of cameras and editors have some hundreds.
const MAX_NODES: u32 = 10_000;
/// Items of a list, such as keywords.
const MAX_ITEMS: usize = 50;
/// Bytes of the name of a language.
const MAX_LANGUAGE: usize = 11;
/// Bytes of a property's values, but for those that are longer or shorter.
const MAX_PROPERTY: usize = 100;
const OTHER_LENGTHS: [(&str, usize); 15] = [
    ("description", 600),
    ("subject", 500),
    ("rights", 300),
    ("UsageTerms", 300),
    ("Instructions", 300),
    ("title", 200),
    ("Headline", 200),
    ("creator", 200),
    ("WebStatement", 200),
    ("CreateDate", 40),
    ("ModifyDate", 40),
    ("DateCreated", 40),
    ("Rating", 8),
    ("Marked", 8),
    ("CountryCode", 8),
];
/// Bytes of the packet's own instructions and attributes, which are written anew.
const MAX_FRAME: usize = 100;

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// How a property is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    /// Alternatives by language.
    Alt,
    Bag,
    Seq,
}
use Form::{Alt, Bag, Seq, Text};

/// A namespace: address, prefix, and the properties that are kept.
type Namespace = (&'static str, &'static str, &'static [(&'static str, Form)]);

#[rustfmt::skip]
const KEPT: [Namespace; 5] = [
    ("http://purl.org/dc/elements/1.1/", "dc", &[
        ("title", Alt), ("description", Alt), ("rights", Alt), ("creator", Seq), ("subject", Bag),
        ("publisher", Bag), ("contributor", Bag), ("language", Bag), ("date", Seq), ("source", Text),
    ]),
    ("http://ns.adobe.com/xap/1.0/", "xmp", &[
        ("CreateDate", Text), ("ModifyDate", Text), ("CreatorTool", Text), ("Rating", Text), ("Label", Text),
    ]),
    ("http://ns.adobe.com/xap/1.0/rights/", "xmpRights", &[
        ("Marked", Text), ("WebStatement", Text), ("UsageTerms", Alt), ("Owner", Bag),
    ]),
    ("http://ns.adobe.com/photoshop/1.0/", "photoshop", &[
        ("Headline", Text), ("Credit", Text), ("Source", Text), ("City", Text), ("State", Text),
        ("Country", Text), ("DateCreated", Text), ("AuthorsPosition", Text), ("CaptionWriter", Text),
        ("Instructions", Text),
    ]),
    ("http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/", "Iptc4xmpCore", &[
        ("Location", Text), ("CountryCode", Text), ("IntellectualGenre", Text),
    ]),
];

/// Prefixes of further well-known namespaces, by a part of their address: for reports only.
const KNOWN: [(&str, &str); 14] = [
    ("/xap/1.0/g/img", "xmpGImg"),
    ("/xap/1.0/mm", "xmpMM"),
    ("/xap/1.0/sType", "stEvt"),
    ("/photos/1.0/image", "GImage"),
    ("/photos/1.0/depthmap", "GDepth"),
    ("/photos/1.0/camera", "GCamera"),
    ("/photos/1.0/container", "Container"),
    ("/hdr-gain-map/", "hdrgm"),
    ("/camera-raw-settings/", "crs"),
    ("/exif/1.0/", "exif"),
    ("/tiff/1.0/", "tiff"),
    ("metadataworkinggroup.com/schemas/regions", "mwg-rs"),
    ("/photo/1.2/", "MP"),
    ("/Iptc4xmpExt/", "Iptc4xmpExt"),
];

/// What is kept of a packet.
pub(super) struct SafeXmp {
    /// A new packet; none if nothing is kept.
    pub packet: Option<Vec<u8>>,
    /// Namespaces of which something was left out.
    pub left_out: Vec<String>,
}

/// A property of a known namespace, with its values and their languages.
struct Property {
    namespace: usize,
    name: &'static str,
    form: Form,
    values: Vec<(String, String)>,
}

impl Property {
    /// Bytes of its values, with their languages where those are written, and with the ends of values.
    fn bytes(&self) -> usize {
        let language = |language: &str| if self.form == Alt { language.len() } else { 0 };
        self.values.iter().map(|(of, text)| text.len() + 1 + language(of)).sum()
    }

    fn max_bytes(&self) -> usize {
        let other = OTHER_LENGTHS.iter().find(|(name, _)| *name == self.name);
        other.map_or(MAX_PROPERTY, |(_, max)| *max)
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(_, text)| text.as_str())
    }
}

/// Reads a packet; none if it is none. Keeps as many bytes of text as there is room for.
pub(super) fn safe_copy(packet: &[u8], mut room: Room) -> Option<SafeXmp> {
    let text = std::str::from_utf8(packet).ok().filter(|text| text.len() <= MAX_BYTES)?;
    let text = text.trim_end_matches('\0');
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).ok()?;
    let described = document.descendants().filter(|node| {
        let in_rdf = node.parent().is_some_and(|parent| parent.has_tag_name((RDF, "RDF")));
        in_rdf && node.is_element()
    });
    let mut kept: Vec<Property> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut add = |uri: Option<&str>, name: &str, values: Option<Vec<(String, String)>>| {
        let property = known(uri, name).zip(values.filter(|values| !values.is_empty()));
        let property = property.map(|((namespace, name, form), values)| Property {
            namespace,
            name,
            form,
            values,
        });
        // With what is too long, too: a picture must not get in by its first part.
        texts.extend(property.iter().flat_map(Property::texts).map(str::to_owned));
        let property = property.filter(|property| {
            let is_list = property.form != Text;
            let same = |p: &Property| (p.namespace, p.name) == (property.namespace, property.name);
            let bytes = property.bytes();
            (is_list || property.values.len() == 1)
                && !kept.iter().any(same)
                && bytes <= property.max_bytes()
                && room.take(bytes)
        });
        match property {
            Some(property) => kept.push(property),
            None => {
                let prefix = prefix(uri);
                if !left_out.contains(&prefix) {
                    left_out.push(prefix);
                }
            }
        }
    };
    for node in described {
        for attribute in node.attributes().filter(|a| !matches!(a.namespace(), Some(RDF | XML))) {
            let value = Some(attribute.value()).filter(|text| is_plain(text));
            let value = value.map(|text| vec![(DEFAULT_LANGUAGE.to_owned(), text.to_owned())]);
            add(attribute.namespace(), attribute.name(), value);
        }
        for child in node.children().filter(Node::is_element) {
            add(child.tag_name().namespace(), child.tag_name().name(), values(child));
        }
    }
    let all = Together::of(texts.iter().map(String::as_str));
    kept.retain(|property| {
        let allowed = all.allow(property.texts());
        let prefix = KEPT[property.namespace].1;
        if !allowed && !left_out.iter().any(|known| known == prefix) {
            left_out.push(prefix.to_owned());
        }
        allowed
    });
    left_out.extend(further(&document).map(str::to_owned));
    left_out.sort();
    let packet = (!kept.is_empty()).then(|| written(&kept));
    Some(SafeXmp { packet, left_out })
}

/// What a packet has besides properties: comments, instructions, and other text.
fn further(document: &Document<'_>) -> impl Iterator<Item = &'static str> {
    let (mut comments, mut instructions, mut text) = (false, false, false);
    // Not below the descriptions: their properties are kept as a whole, or listed as a whole.
    let mut open = vec![document.root()];
    while let Some(node) = open.pop() {
        let value = node.text().unwrap_or_default();
        comments |= node.is_comment();
        let instruction = node.pi();
        let expected = |target: &str, value: &str| target == "xpacket" && value.len() <= MAX_FRAME;
        instructions |=
            instruction.is_some_and(|pi| !expected(pi.target, pi.value.unwrap_or_default()));
        text |= node.is_text() && !value.trim().is_empty();
        let is_property = node
            .parent()
            .and_then(|parent| parent.parent())
            .is_some_and(|above| above.has_tag_name((RDF, "RDF")));
        let attributes = node.attributes().map(|attribute| attribute.value().len());
        let in_frame = !node.parent().is_some_and(|above| above.has_tag_name((RDF, "RDF")));
        text |= in_frame && !is_property && attributes.sum::<usize>() > MAX_FRAME;
        if !(is_property && node.is_element()) {
            open.extend(node.children());
        }
    }
    [(comments, "comments"), (instructions, "instructions"), (text, "other text")]
        .into_iter()
        .filter_map(|(has, name)| has.then_some(name))
}

const DEFAULT_LANGUAGE: &str = "x-default";

/// The property, if it is one that is kept: namespace, name and form.
fn known(uri: Option<&str>, name: &str) -> Option<(usize, &'static str, Form)> {
    let at = KEPT.iter().position(|(known, ..)| Some(*known) == uri)?;
    let (name, form) = KEPT[at].2.iter().find(|(known, _)| *known == name)?;
    Some((at, name, *form))
}

/// A namespace as reports show it. Prefixes of packets are anybody's words.
fn prefix(uri: Option<&str>) -> String {
    let kept = KEPT.iter().find(|(known, ..)| Some(*known) == uri).map(|(_, prefix, _)| *prefix);
    let other = || KNOWN.iter().find(|(part, _)| uri.is_some_and(|uri| uri.contains(part)));
    kept.or_else(|| other().map(|(_, prefix)| *prefix)).unwrap_or("unknown").to_owned()
}

/// The texts of a property with their languages; none if it has any other content.
fn values(property: Node<'_, '_>) -> Option<Vec<(String, String)>> {
    let only_text = |node: Node<'_, '_>| -> Option<(String, String)> {
        let plain = node.children().all(|child| child.is_text());
        let text = node.text().unwrap_or_default().trim();
        let language = node.attribute((XML, "lang")).unwrap_or(DEFAULT_LANGUAGE);
        let known = language.len() <= MAX_LANGUAGE
            && language.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let attributes = node.attributes().all(|a| a.namespace() == Some(XML));
        (plain && known && attributes && is_plain(text))
            .then(|| (language.to_owned(), text.to_owned()))
    };
    let mut elements = property.children().filter(Node::is_element);
    let Some(list) = elements.next() else {
        return only_text(property).map(|value| vec![value]);
    };
    let is_list = ["Alt", "Bag", "Seq"].iter().any(|name| list.has_tag_name((RDF, *name)));
    if !is_list || elements.next().is_some() {
        return None;
    }
    let items: Vec<Node<'_, '_>> = list.children().filter(Node::is_element).collect();
    if items.len() > MAX_ITEMS || !items.iter().all(|item| item.has_tag_name((RDF, "li"))) {
        return None;
    }
    items.into_iter().map(only_text).collect()
}

/// A packet with these properties and nothing else.
fn written(properties: &[Property]) -> Vec<u8> {
    let mut text = "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n\
        <x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n"
        .to_owned();
    text += &format!("<rdf:RDF xmlns:rdf=\"{RDF}\">\n<rdf:Description rdf:about=\"\"");
    for (at, (uri, prefix, _)) in KEPT.iter().enumerate() {
        if properties.iter().any(|property| property.namespace == at) {
            text += &format!(" xmlns:{prefix}=\"{uri}\"");
        }
    }
    text += ">\n";
    for Property { namespace, name, form, values } in properties {
        let tag = format!("{}:{name}", KEPT[*namespace].1);
        let list = match form {
            Text => {
                let value = values.first().map_or("", |(_, text)| text);
                text += &format!("<{tag}>{}</{tag}>\n", escaped(value));
                continue;
            }
            Alt => "Alt",
            Bag => "Bag",
            Seq => "Seq",
        };
        text += &format!("<{tag}><rdf:{list}>");
        for (language, value) in values {
            let language = match form {
                Alt => format!(" xml:lang=\"{language}\""),
                _ => String::new(),
            };
            text += &format!("<rdf:li{language}>{}</rdf:li>", escaped(value));
        }
        text += &format!("</rdf:{list}></{tag}>\n");
    }
    text += "</rdf:Description>\n</rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"r\"?>";
    text.into_bytes()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::photo::plain::MAX_TOGETHER;

    fn copied(packet: &[u8]) -> Option<SafeXmp> {
        safe_copy(packet, Room(MAX_TOGETHER))
    }

    fn packet(inner: &str) -> Vec<u8> {
        format!(
            "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>\
             <rdf:RDF xmlns:rdf='{RDF}'><rdf:Description rdf:about='' \
             xmlns:d='http://purl.org/dc/elements/1.1/' xmlns:i='http://ns.google.com/photos/1.0/image/' \
             xmlns:u='urn:mine' {inner}</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>"
        )
        .into_bytes()
    }

    #[test]
    fn known_text_is_kept_in_a_packet_of_our_own() {
        let data = "QUJD".repeat(200);
        let safe = copied(&packet(&format!(
            "d:source='here'><d:title><rdf:Alt><rdf:li xml:lang='de'>A &amp; &lt;B></rdf:li></rdf:Alt>\
             </d:title><d:subject><rdf:Bag><rdf:li>one</rdf:li><rdf:li>two</rdf:li></rdf:Bag></d:subject>\
             <i:Data>{data}</i:Data><u:x>{data}</u:x><d:format>image/jpeg</d:format>"
        )))
        .unwrap();
        let text = String::from_utf8(safe.packet.unwrap()).unwrap();
        assert!(text.contains("<dc:source>here</dc:source>"), "{text}");
        assert!(text.contains(r#"<rdf:li xml:lang="de">A &amp; &lt;B&gt;</rdf:li>"#), "{text}");
        assert!(text.contains("<rdf:li>one</rdf:li><rdf:li>two</rdf:li>"), "{text}");
        assert!(!text.contains("QUJD") && !text.contains("image/jpeg"), "{text}");
        assert_eq!(safe.left_out, ["GImage", "dc", "unknown"]);
        assert_eq!(copied(text.as_bytes()).unwrap().packet.unwrap(), text.as_bytes());
    }

    #[test]
    fn data_under_a_known_name_is_left_out() {
        let data = "QUJD".repeat(100);
        for inner in [
            format!("d:source='{data}'>"),
            format!("><d:source>{data}</d:source>"),
            format!("><d:title><rdf:Alt><rdf:li>{data}</rdf:li></rdf:Alt></d:title>"),
            format!("><d:title><u:x>{data}</u:x></d:title>"),
            format!("><d:title><rdf:Alt><rdf:li u:x='{data}'>a</rdf:li></rdf:Alt></d:title>"),
            format!("><d:title><rdf:Alt><rdf:li><u:x>{data}</u:x></rdf:li></rdf:Alt></d:title>"),
        ] {
            let safe = copied(&packet(&inner)).unwrap();
            assert!(safe.packet.is_none() && safe.left_out == ["dc"], "{inner}");
        }
    }

    #[test]
    fn data_divided_among_values_is_left_out() {
        let words =
            |length: usize| vec!["QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVow1"[..length].to_owned(); 60];
        let items =
            words(37).iter().map(|word| format!("<rdf:li>{word}</rdf:li>")).collect::<String>();
        let text = words(20).join(" ");
        let names = ["title", "description", "rights", "source"];
        let shared =
            names.map(|name| format!("<d:{name}>{}</d:{name}>", words(20)[..10].join(" ")));
        for inner in [
            format!("><d:subject><rdf:Bag>{items}</rdf:Bag></d:subject>"),
            format!("><d:description>{text}</d:description>").replace(&text, &text[..900]),
            format!(">{}", shared.concat()),
        ] {
            let safe = copied(&packet(&inner)).unwrap();
            assert!(safe.packet.is_none() && safe.left_out == ["dc"], "{inner}");
        }
    }

    #[test]
    fn what_is_no_property_is_listed() {
        for (inner, name) in [
            ("><!-- a face -->", "comments"),
            ("><?face a?>", "instructions"),
            (">a face", "other text"),
        ] {
            let safe = copied(&packet(&format!("{inner}<d:source>here</d:source>"))).unwrap();
            assert!(
                safe.packet.is_some() && safe.left_out == [name],
                "{inner}: {:?}",
                safe.left_out
            );
        }
        let text = String::from_utf8(packet("><d:source>here</d:source>")).unwrap();
        for (from, to, name) in [
            ("<rdf:RDF", "<a>a face</a><rdf:RDF", "other text"),
            ("<rdf:RDF", &format!("<a b='{}'/><rdf:RDF", "a ".repeat(60)), "other text"),
            ("begin=''", &format!("begin='{}'", "a ".repeat(60)), "instructions"),
            ("<x:xmpmeta", "<!-- a face --><x:xmpmeta", "comments"),
        ] {
            let safe = copied(text.replacen(from, to, 1).as_bytes()).unwrap();
            assert!(safe.left_out == [name], "{to}: {:?}", safe.left_out);
        }
    }

    #[test]
    fn properties_have_lengths_of_their_own() {
        let long = "a day at the sea ".repeat(12);
        let languages: String =
            (0..40).map(|n| format!("<rdf:li xml:lang='abcdefgh-{n:02}'>a</rdf:li>")).collect();
        for inner in [
            format!("><d:source>{long}</d:source>"),
            format!("><d:title><rdf:Alt>{languages}</rdf:Alt></d:title>"),
        ] {
            let safe = copied(&packet(&inner)).unwrap();
            assert!(safe.packet.is_none() && safe.left_out == ["dc"], "{inner}");
        }
        let inner = format!("><d:description>{long}</d:description>");
        assert!(copied(&packet(&inner)).unwrap().packet.is_some());
        assert!(safe_copy(&packet(&inner), Room(200)).unwrap().packet.is_none());
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        let bomb = "<!DOCTYPE a [<!ENTITY b 'bbbbbbbb'>]><a>&b;</a>";
        for text in ["", "<a", "no packet", bomb, &"<a>".repeat(20_000)] {
            assert!(copied(text.as_bytes()).is_none());
        }
        let deep = format!("{}{}", "<a>".repeat(4_000), "</a>".repeat(4_000));
        assert!(copied(deep.as_bytes()).is_some_and(|safe| safe.packet.is_none()));
    }
}
