extension String {
    /// Returns at most `count` characters, the last one an ellipsis if some are left out.
    package func shortened(to count: Int) -> String {
        self.count <= count ? self : prefix(count - 1) + "…"
    }
}
