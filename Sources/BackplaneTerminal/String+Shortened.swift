extension String {
    /// Returns at most `count` characters, the last one an ellipsis if some are left out.
    package func shortened(to count: Int) -> String {
        self.count <= count ? self : prefix(count - 1) + "…"
    }

    /// Returns the text if it fits into columns of a terminal, otherwise its beginning and an ellipsis, which do.
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
