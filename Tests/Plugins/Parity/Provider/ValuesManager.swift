import Backplane
import ParityContracts

final class ValuesManager: Manager {
    typealias Provides = Values

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.nothing) { _, value, _ in Seen(value) }
        table.async(\.bool) { _, value, _ in Seen(value) }
        table.async(\.integers) { _, value, _ in Seen(value) }
        table.async(\.double) { _, value, _ in Seen(value) }
        table.async(\.float) { _, value, _ in Seen(value) }
        table.async(\.decimal) { _, value, _ in Seen(value) }
        table.async(\.duration) { _, value, _ in Seen(value) }
        table.async(\.string) { _, value, _ in Seen(value) }
        table.async(\.glyphs) { _, value, _ in Seen(value) }
        table.async(\.optional) { _, value, _ in Seen(value) }
        table.async(\.nested) { _, value, _ in Seen(value) }
        table.async(\.perhapsNothing) { _, value, _ in Seen(value) }
        table.async(\.array) { _, value, _ in Seen(value) }
        table.async(\.contiguous) { _, value, _ in Seen(value) }
        table.async(\.optionals) { _, value, _ in Seen(value) }
        table.async(\.byName) { _, value, _ in Seen(value) }
        table.async(\.byNumber) { _, value, _ in Seen(value) }
        table.async(\.byUUID) { _, value, _ in Seen(value) }
        table.async(\.byDate) { _, value, _ in Seen(value) }
        table.async(\.optionalsByName) { _, value, _ in Seen(value) }
        table.async(\.set) { _, value, _ in Seen(value) }
        table.async(\.texts) { _, value, _ in Seen(value) }
        table.async(\.ranges) { _, value, _ in Seen(value) }
        table.async(\.date) { _, value, _ in Seen(value) }
        table.async(\.data) { _, value, _ in Seen(value) }
        table.async(\.url) { _, value, _ in Seen(value) }
        table.async(\.urlComponents) { _, value, _ in Seen(value) }
        table.async(\.uuid) { _, value, _ in Seen(value) }
        table.async(\.place) { _, value, _ in Seen(value) }
        table.async(\.volume) { _, value, _ in Seen(value) }
        table.async(\.shape) { _, value, _ in Seen(value) }
        table.async(\.suit) { _, value, _ in Seen(value) }
        table.async(\.tree) { _, value, _ in Seen(value) }
        table.async(\.sourced) { _, value, _ in Seen(value) }
        table.async(\.forgetful) { _, value, _ in Seen(value) }
        table.async(\.strict) { _, value, _ in Seen(value) }
        table.async(\.amended) { _, volumes, _ in amended(volumes) }
        table.sync(\.volumeNow) { _, volume, _ in Seen(volume) }
        table.sync(\.amendedNow) { _, volumes, _ in amended(volumes) }
    }

    /// Writes into storage that the caller may hold as well.
    private static func amended(_ volumes: [Volume]) -> [Volume] {
        var volumes = volumes
        for index in volumes.indices {
            volumes[index].title += ", amended"
            volumes[index].tags.insert("amended")
            volumes[index].isLent.toggle()
        }
        volumes.append(Volume(volumes.count, "one more", tags: ["new"], shape: .labelled("amended", [.point])))
        return volumes
    }
}
