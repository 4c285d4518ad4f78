import Backplane
import BenchmarkContracts

/// A manager that is wired and never called.
final class ManyMethodsManager: Manager {
    typealias Provides = ManyMethods

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.int1) { _, _, _ in throw NeverCalled() }
        table.async(\.int2) { _, _, _ in throw NeverCalled() }
        table.async(\.int3) { _, _, _ in throw NeverCalled() }
        table.async(\.int4) { _, _, _ in throw NeverCalled() }
        table.async(\.int5) { _, _, _ in throw NeverCalled() }
        table.async(\.double1) { _, _, _ in throw NeverCalled() }
        table.async(\.double2) { _, _, _ in throw NeverCalled() }
        table.async(\.double3) { _, _, _ in throw NeverCalled() }
        table.async(\.double4) { _, _, _ in throw NeverCalled() }
        table.async(\.double5) { _, _, _ in throw NeverCalled() }
        table.async(\.string1) { _, _, _ in throw NeverCalled() }
        table.async(\.string2) { _, _, _ in throw NeverCalled() }
        table.async(\.string3) { _, _, _ in throw NeverCalled() }
        table.async(\.string4) { _, _, _ in throw NeverCalled() }
        table.async(\.string5) { _, _, _ in throw NeverCalled() }
        table.async(\.bool1) { _, _, _ in throw NeverCalled() }
        table.async(\.bool2) { _, _, _ in throw NeverCalled() }
        table.async(\.bool3) { _, _, _ in throw NeverCalled() }
        table.async(\.bool4) { _, _, _ in throw NeverCalled() }
        table.async(\.bool5) { _, _, _ in throw NeverCalled() }
        table.async(\.parcel1) { _, _, _ in throw NeverCalled() }
        table.async(\.parcel2) { _, _, _ in throw NeverCalled() }
        table.async(\.parcel3) { _, _, _ in throw NeverCalled() }
        table.async(\.parcel4) { _, _, _ in throw NeverCalled() }
        table.async(\.parcel5) { _, _, _ in throw NeverCalled() }
    }

    struct NeverCalled: Error {}
}
