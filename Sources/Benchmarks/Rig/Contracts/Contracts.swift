public import Backplane

/// The contract for measuring calls; its methods do almost nothing, so that only the calls take time.
public struct Benchmark: Contract {
    /// The version of this set of methods; the native lane requires the same on both sides.
    public static let version: Version = "1.1.0"
    /// Returns the number increased by one.
    public let add = AsyncMethod<Int, Int>()
    /// Returns the parcel with its number increased by one.
    public let next = AsyncMethod<Parcel, Parcel>()
    /// Streams as many numbers as requested, starting with 0.
    public let numbers = StreamMethod<Int, Int>()
    /// Streams as many parcels as requested, numbered from 0.
    public let parcels = StreamMethod<Int, Parcel>()
    /// Creates the contract with its methods.
    public init() {}
}

/// An earlier version of ``Benchmark``.
///
/// The native lane requires the same version on both sides, so calls through this contract are always encoded.
public struct EarlierBenchmark: Contract {
    /// The name of ``Benchmark``, which makes this a version of the same contract.
    public static let name = Benchmark.name
    /// The version of this set of methods, lower than the version of ``Benchmark``.
    public static let version: Version = "1.0.0"
    /// Returns the parcel with its number increased by one.
    public let next = AsyncMethod<Parcel, Parcel>()
    /// Streams as many parcels as requested, numbered from 0.
    public let parcels = StreamMethod<Int, Parcel>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The contract for calls from one manager to another; the calling manager runs the whole loop.
public struct Relay: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Makes a number of calls, each with the result of the previous one, beginning with 0; returns the last result.
    public let add = AsyncMethod<Int, Int>()
    /// Creates the contract with its methods.
    public init() {}
}

/// A struct of a typical size for contracts: a number, a string too long to be stored inline, and a list.
public struct Parcel: Codable, Sendable, Hashable {
    /// The number that calls increment.
    public var id: Int
    /// A string that calls return unchanged.
    public var title: String
    /// A list that calls return unchanged.
    public var tags: [String]

    /// Creates a parcel.
    public init(id: Int, title: String, tags: [String]) {
        (self.id, self.title, self.tags) = (id, title, tags)
    }

    /// A parcel with number 0 and a title of 31 bytes.
    public static let first = Parcel(id: 0, title: String(repeating: "x", count: 31), tags: ["one", "two"])
}

/// The answer of the routes that are measured, as JSON of about 120 bytes.
public struct RoutedBook: Codable, Sendable {
    /// The number in the path of the request.
    public var id: Int
    /// The title.
    public var title = "Moby-Dick; or, The Whale"
    /// The author.
    public var author = "Herman Melville"
    /// The language, by its code.
    public var language = "en"
    /// The year of publication.
    public var year = 1851

    /// Creates the book with a number.
    public init(_ id: Int) { self.id = id }
}

/// The calls of ``Benchmark`` without a boundary, as in a program linked as a whole.
///
/// The calls go through an existential that is opaque to the optimiser, to methods that are not inlined. This is the
/// inherent cost of protocols, and the minimum cost of replaceable code.
public protocol DirectBenchmark: Sendable {
    /// Returns the number increased by one.
    nonisolated(nonsending) func add(_ number: Int) async throws(BackplaneError) -> Int
    /// Returns the parcel with its number increased by one.
    nonisolated(nonsending) func next(_ parcel: Parcel) async throws(BackplaneError) -> Parcel
}

final class Adder: DirectBenchmark {
    private let step = 1

    @inline(never)
    nonisolated(nonsending) func add(_ number: Int) async throws(BackplaneError) -> Int { number &+ step }

    @inline(never)
    nonisolated(nonsending) func next(_ parcel: Parcel) async throws(BackplaneError) -> Parcel {
        Parcel(id: parcel.id &+ step, title: parcel.title, tags: parcel.tags)
    }
}

/// Returns an instance whose class is hidden from the optimiser, so that calls are not devirtualised.
@inline(never) @_optimize(none)
public func makeDirectBenchmark() -> any DirectBenchmark { Adder() }
