import Backplane
import YardstickContracts

/// A manager with 25 wires, for measuring how long wiring takes.
final class WeaverManager: Manager {
    struct Wires: Wiring {
        let loom1: Wire<Loom>, loom2: Wire<Loom>, loom3: Wire<Loom>, loom4: Wire<Loom>, loom5: Wire<Loom>,
            loom6: Wire<Loom>, loom7: Wire<Loom>, loom8: Wire<Loom>, loom9: Wire<Loom>, loom10: Wire<Loom>,
            loom11: Wire<Loom>, loom12: Wire<Loom>, loom13: Wire<Loom>, loom14: Wire<Loom>, loom15: Wire<Loom>,
            loom16: Wire<Loom>, loom17: Wire<Loom>, loom18: Wire<Loom>, loom19: Wire<Loom>, loom20: Wire<Loom>,
            loom21: Wire<Loom>, loom22: Wire<Loom>, loom23: Wire<Loom>, loom24: Wire<Loom>, loom25: Wire<Loom>
    }

    init(_ context: Context) {}
}
