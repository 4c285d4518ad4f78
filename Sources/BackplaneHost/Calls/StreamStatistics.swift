/// The counts of a component's streams.
public struct StreamStatistics: Sendable, Hashable {
    /// The number of streams whose bodies have not returned.
    public var open: Int
    /// The number of streams that were opened.
    public var opened: Int
    /// The number of elements that consumers have taken.
    public var elements: Int

    package init(open: Int = 0, opened: Int = 0, elements: Int = 0) {
        (self.open, self.opened, self.elements) = (open, opened, elements)
    }
}
