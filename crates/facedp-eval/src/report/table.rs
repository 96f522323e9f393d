//! Tables. Cells are markup: text from outside goes through `escape` before it comes here.

/// A table that grows by rows.
pub(super) struct Table {
    head: Vec<String>,
    body: String,
    words: usize,
    class: &'static str,
}

impl Table {
    /// A table whose first `words` columns hold words, the others figures.
    pub fn new(words: usize, head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            head: head.into_iter().map(Into::into).collect(),
            body: String::new(),
            words,
            class: "",
        }
    }

    /// The same table whose rows are headed by sentences.
    pub fn of_sentences(self) -> Self {
        Self { class: " class=\"findings\"", ..self }
    }

    /// One more row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.line("", cells);
    }

    /// One more row, with a rule above: the first one of a group.
    pub fn first_of_group(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.line(" class=\"group\"", cells);
    }

    /// One more row, for figures of the paper.
    pub fn of_paper(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.line(" class=\"paper\"", cells);
    }

    fn line(&mut self, class: &str, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.body += &format!("<tr{class}>");
        for (at, cell) in cells.into_iter().enumerate() {
            let cell = cell.as_ref();
            self.body += &match at {
                0 => format!("<th scope=\"row\">{cell}</th>"),
                _ if at < self.words => format!("<td class=\"words\">{cell}</td>"),
                _ => format!("<td>{cell}</td>"),
            };
        }
        self.body += "</tr>\n";
    }

    /// The markup, with a caption in plain words.
    pub fn html(&self, caption: &str) -> String {
        let head: String = self
            .head
            .iter()
            .enumerate()
            .map(|(at, cell)| {
                let class = if at < self.words { " class=\"words\"" } else { "" };
                format!("<th scope=\"col\"{class}>{cell}</th>")
            })
            .collect();
        let head = if head.is_empty() { head } else { format!("<thead><tr>{head}</tr></thead>\n") };
        let caption = if caption.is_empty() {
            String::new()
        } else {
            format!("<caption>{caption}</caption>")
        };
        format!(
            "<div class=\"wide\"><table{}>{caption}\n{head}<tbody>\n{}</tbody></table></div>\n",
            self.class, self.body
        )
    }

    /// The same, folded away until the reader asks for it.
    pub fn folded(&self, caption: &str) -> String {
        folded(caption, &self.html(caption))
    }
}

/// Markup folded away under a line of words.
pub(super) fn folded(words: &str, inner: &str) -> String {
    format!("<details><summary>{words}</summary>\n{inner}</details>\n")
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn first_cells_head_their_rows() {
        let mut table = Table::new(2, ["method", "rule", "rate"]);
        table.row(["RDP", "paper", "3 %"]);
        let html = table.html("Rates.");
        assert!(
            html.contains("<th scope=\"row\">RDP</th><td class=\"words\">paper</td><td>3 %</td>")
        );
        assert!(html.contains("<caption>Rates.</caption>"));
    }
}
