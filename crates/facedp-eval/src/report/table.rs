//! HTML tables. Cells are markup: callers escape text from outside.

pub(super) struct Table {
    head: Vec<String>,
    body: String,
    /// The number of text columns, which come first.
    text_columns: usize,
    class: &'static str,
}

impl Table {
    /// A table whose first `text_columns` columns hold text and whose other columns hold figures.
    pub fn new(text_columns: usize, head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            head: head.into_iter().map(Into::into).collect(),
            body: String::new(),
            text_columns,
            class: "",
        }
    }

    /// Lets the first column wrap, for tables whose rows start with a sentence.
    pub fn with_sentences(self) -> Self {
        Self { class: " class=\"findings\"", ..self }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.line("", cells);
    }

    /// Adds rows with a rule above the first.
    pub fn group<R>(&mut self, rows: impl IntoIterator<Item = R>)
    where
        R: IntoIterator<Item: AsRef<str>>,
    {
        for (at, cells) in rows.into_iter().enumerate() {
            self.line(if at == 0 { " class=\"group\"" } else { "" }, cells);
        }
    }

    /// Adds a row in the style for figures of the paper and of theory.
    pub fn paper_row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.line(" class=\"paper\"", cells);
    }

    fn line(&mut self, class: &str, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.body += &format!("<tr{class}>");
        for (at, cell) in cells.into_iter().enumerate() {
            let cell = cell.as_ref();
            self.body += &match at {
                0 => format!("<th scope=\"row\">{cell}</th>"),
                _ if at < self.text_columns => format!("<td class=\"words\">{cell}</td>"),
                _ => format!("<td>{cell}</td>"),
            };
        }
        self.body += "</tr>\n";
    }

    /// The markup, with a caption unless that is empty.
    pub fn html(&self, caption: &str) -> String {
        let head: String = self
            .head
            .iter()
            .enumerate()
            .map(|(at, cell)| {
                let class = if at < self.text_columns { " class=\"words\"" } else { "" };
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

    /// The markup, collapsed under the caption.
    pub fn folded(&self, caption: &str) -> String {
        folded(caption, &self.html(caption))
    }
}

/// Markup collapsed under a summary line.
pub(super) fn folded(summary: &str, inner: &str) -> String {
    format!("<details><summary>{summary}</summary>\n{inner}</details>\n")
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn first_cells_are_row_headers() {
        let mut table = Table::new(2, ["method", "rule", "rate"]);
        table.row(["RDP", "paper", "3 %"]);
        let html = table.html("Rates.");
        assert!(
            html.contains("<th scope=\"row\">RDP</th><td class=\"words\">paper</td><td>3 %</td>")
        );
        assert!(html.contains("<caption>Rates.</caption>"));
    }
}
