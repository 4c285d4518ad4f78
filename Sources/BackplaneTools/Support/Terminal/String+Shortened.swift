import BackplaneHost

extension String {
    /// Returns at most `count` characters, the last one an ellipsis if some are omitted.
    package func shortened(to count: Int) -> String {
        self.count <= count ? self : prefix(count - 1) + "…"
    }

    /// Returns the text, truncated with an ellipsis if it does not fit into columns of a terminal.
    package func fitted(to columns: Int) -> String {
        guard displayWidth > columns else { return self }
        var width = 1
        let end = indices.first { index in
            width += self[index].displayWidth
            return width > columns
        }
        return self[..<(end ?? endIndex)] + "…"
    }
}
