import Backplane
import YardstickContracts

/// A manager that is wired and never called.
final class LoomManager: Manager {
    typealias Provides = Loom

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.int1) { _, _, _ in throw Unwoven() }
        table.async(\.int2) { _, _, _ in throw Unwoven() }
        table.async(\.int3) { _, _, _ in throw Unwoven() }
        table.async(\.int4) { _, _, _ in throw Unwoven() }
        table.async(\.int5) { _, _, _ in throw Unwoven() }
        table.async(\.double1) { _, _, _ in throw Unwoven() }
        table.async(\.double2) { _, _, _ in throw Unwoven() }
        table.async(\.double3) { _, _, _ in throw Unwoven() }
        table.async(\.double4) { _, _, _ in throw Unwoven() }
        table.async(\.double5) { _, _, _ in throw Unwoven() }
        table.async(\.string1) { _, _, _ in throw Unwoven() }
        table.async(\.string2) { _, _, _ in throw Unwoven() }
        table.async(\.string3) { _, _, _ in throw Unwoven() }
        table.async(\.string4) { _, _, _ in throw Unwoven() }
        table.async(\.string5) { _, _, _ in throw Unwoven() }
        table.async(\.bool1) { _, _, _ in throw Unwoven() }
        table.async(\.bool2) { _, _, _ in throw Unwoven() }
        table.async(\.bool3) { _, _, _ in throw Unwoven() }
        table.async(\.bool4) { _, _, _ in throw Unwoven() }
        table.async(\.bool5) { _, _, _ in throw Unwoven() }
        table.async(\.parcel1) { _, _, _ in throw Unwoven() }
        table.async(\.parcel2) { _, _, _ in throw Unwoven() }
        table.async(\.parcel3) { _, _, _ in throw Unwoven() }
        table.async(\.parcel4) { _, _, _ in throw Unwoven() }
        table.async(\.parcel5) { _, _, _ in throw Unwoven() }
    }

    struct Unwoven: Error {}
}
