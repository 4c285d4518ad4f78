import Backplane
import ParityContracts

/// Hands every call on to another library.
final class ValuesRelay: Manager {
    typealias Provides = Values
    struct Wires: Wiring {
        let next: Wire<Values>
    }
    private let values: Wire<Values>

    init(_ context: Context) {
        values = context.wires.next
    }

    static func methods(_ table: inout Methods) {
        table.async(\.nothing) { relay, value, call in try await relay.values.nothing(value, call) }
        table.async(\.bool) { relay, value, call in try await relay.values.bool(value, call) }
        table.async(\.integers) { relay, value, call in try await relay.values.integers(value, call) }
        table.async(\.double) { relay, value, call in try await relay.values.double(value, call) }
        table.async(\.float) { relay, value, call in try await relay.values.float(value, call) }
        table.async(\.decimal) { relay, value, call in try await relay.values.decimal(value, call) }
        table.async(\.duration) { relay, value, call in try await relay.values.duration(value, call) }
        table.async(\.string) { relay, value, call in try await relay.values.string(value, call) }
        table.async(\.glyphs) { relay, value, call in try await relay.values.glyphs(value, call) }
        table.async(\.optional) { relay, value, call in try await relay.values.optional(value, call) }
        table.async(\.nested) { relay, value, call in try await relay.values.nested(value, call) }
        table.async(\.perhapsNothing) { relay, value, call in try await relay.values.perhapsNothing(value, call) }
        table.async(\.array) { relay, value, call in try await relay.values.array(value, call) }
        table.async(\.contiguous) { relay, value, call in try await relay.values.contiguous(value, call) }
        table.async(\.optionals) { relay, value, call in try await relay.values.optionals(value, call) }
        table.async(\.byName) { relay, value, call in try await relay.values.byName(value, call) }
        table.async(\.byNumber) { relay, value, call in try await relay.values.byNumber(value, call) }
        table.async(\.byUUID) { relay, value, call in try await relay.values.byUUID(value, call) }
        table.async(\.byDate) { relay, value, call in try await relay.values.byDate(value, call) }
        table.async(\.optionalsByName) { relay, value, call in try await relay.values.optionalsByName(value, call) }
        table.async(\.set) { relay, value, call in try await relay.values.set(value, call) }
        table.async(\.texts) { relay, value, call in try await relay.values.texts(value, call) }
        table.async(\.ranges) { relay, value, call in try await relay.values.ranges(value, call) }
        table.async(\.date) { relay, value, call in try await relay.values.date(value, call) }
        table.async(\.data) { relay, value, call in try await relay.values.data(value, call) }
        table.async(\.url) { relay, value, call in try await relay.values.url(value, call) }
        table.async(\.urlComponents) { relay, value, call in try await relay.values.urlComponents(value, call) }
        table.async(\.uuid) { relay, value, call in try await relay.values.uuid(value, call) }
        table.async(\.place) { relay, value, call in try await relay.values.place(value, call) }
        table.async(\.volume) { relay, value, call in try await relay.values.volume(value, call) }
        table.async(\.shape) { relay, value, call in try await relay.values.shape(value, call) }
        table.async(\.suit) { relay, value, call in try await relay.values.suit(value, call) }
        table.async(\.tree) { relay, value, call in try await relay.values.tree(value, call) }
        table.async(\.sourced) { relay, value, call in try await relay.values.sourced(value, call) }
        table.async(\.forgetful) { relay, value, call in try await relay.values.forgetful(value, call) }
        table.async(\.strict) { relay, value, call in try await relay.values.strict(value, call) }
        table.async(\.amended) { relay, volumes, call in try await relay.values.amended(volumes, call) }
        table.sync(\.volumeNow) { relay, volume, call in try relay.values.volumeNow(volume, call) }
        table.sync(\.amendedNow) { relay, volumes, call in try relay.values.amendedNow(volumes, call) }
    }
}
