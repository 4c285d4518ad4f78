public import Backplane

/// The contract of the numbered draws for measuring swaps under streams.
///
/// Each draw is derived from the previous one, so that lost, repeated, reordered and changed draws are detected.
public struct Series: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Streams the draws of a reader after a place, endlessly.
    public let draws = StreamMethod<SeriesPlace, Draw>()
    /// Counts a call and returns the count.
    public let pass = AsyncMethod<Nothing, Int>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The place in a reader's series at which a stream begins.
public struct SeriesPlace: Codable, Sendable {
    /// The number of the reader, which has its own series.
    public var reader: Int
    /// The number of the last draw that the reader has; 0 for none.
    public var last: Int

    /// Creates a position after a reader's last draw.
    public init(of reader: Int, after last: Int) { (self.reader, self.last) = (reader, last) }
}

extension SeriesPlace: Resumable {
    /// Returns the position after a draw.
    public func resuming(after last: Draw) -> SeriesPlace { SeriesPlace(of: reader, after: last.number) }
}

/// An element of a series.
public struct Draw: Codable, Sendable, Equatable {
    /// The number, counted from 1.
    public var number: Int
    /// A number that is derived from the previous draw.
    public var mark: UInt64

    /// Returns the draw before the first one of a reader.
    public static func origin(of reader: Int) -> Draw { Draw(number: 0, mark: UInt64(reader)) }

    /// The draw that follows this one.
    public var next: Draw { Draw(number: number + 1, mark: mark &* 6_364_136_223_846_793_005 &+ 1) }
}

/// The draws of one reader that a provider can send again: the last 1,000.
public struct SeriesWindow: Codable, Sendable {
    /// The maximum number of draws that can be repeated.
    public static let limit = 1_000
    /// The draw before the first one that can be sent.
    private var before: Draw
    private var newest: Draw

    /// Creates a window before the first draw of a reader.
    public init(of reader: Int) { (before, newest) = (.origin(of: reader), .origin(of: reader)) }

    /// Returns the draw after a number, creating it if it is the next one; returns `nil` if it can no longer be sent.
    public mutating func draw(after last: Int) -> Draw? {
        if last == newest.number {
            newest = newest.next
            if newest.number - before.number > Self.limit { before = before.next }
            return newest
        }
        guard (before.number..<newest.number).contains(last) else { return nil }
        var draw = before
        for _ in before.number...last { draw = draw.next }
        return draw
    }
}

/// The contract of the reader of series, in a separate plugin.
public struct SeriesReading: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Starts reading a number of series, each after its last draw.
    public let begin = AsyncMethod<Int, Nothing>()
    /// Stops reading.
    public let end = AsyncMethod<Nothing, Nothing>()
    /// Returns the account of each series so far.
    public let accounts = SyncMethod<Nothing, [SeriesAccount]>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The counts of the draws that a reader has received of its series.
public struct SeriesAccount: Codable, Sendable {
    /// The last draw that was received.
    public private(set) var last: Draw
    /// The number of draws.
    public private(set) var read = 0
    /// The number of draws that were skipped, or arrived with a wrong mark.
    public private(set) var lost = 0
    /// The number of draws that were repeated immediately.
    public private(set) var repeated = 0
    /// The number of draws that arrived after a later one.
    public private(set) var disorder = 0
    /// The number of streams that ended, with or without an error.
    public var ended = 0

    /// Creates an account before the first draw of a reader.
    public init(of reader: Int) { last = .origin(of: reader) }

    /// Adds a draw.
    public mutating func note(_ draw: Draw) {
        if draw == last.next {
        } else if draw.number > last.number {
            lost += max(1, draw.number - last.number - 1)
        } else if draw.number == last.number {
            repeated += 1
        } else {
            disorder += 1
        }
        (last, read) = (draw, read + 1)
    }
}
