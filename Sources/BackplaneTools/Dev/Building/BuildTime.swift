/// The duration of a build, which events express in seconds.
struct BuildTime: Codable, Sendable, Comparable {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init(from decoder: any Decoder) throws {
        duration = .seconds(try decoder.singleValueContainer().decode(Double.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(duration / .seconds(1))
    }

    static func < (one: BuildTime, other: BuildTime) -> Bool { one.duration < other.duration }
}
