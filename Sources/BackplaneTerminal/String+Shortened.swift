extension String {
    /// At most so many characters, the last of them an ellipsis where some are left out.
    package func shortened(to count: Int) -> String {
        self.count <= count ? self : prefix(count - 1) + "…"
    }
}
