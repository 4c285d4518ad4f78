import Backplane
import BenchmarkContracts

/// A manager with 25 wires, for measuring how long wiring takes.
final class ManyWiresManager: Manager {
    struct Wires: Wiring {
        let wire1: Wire<ManyMethods>, wire2: Wire<ManyMethods>, wire3: Wire<ManyMethods>, wire4: Wire<ManyMethods>,
            wire5: Wire<ManyMethods>,
            wire6: Wire<ManyMethods>, wire7: Wire<ManyMethods>, wire8: Wire<ManyMethods>, wire9: Wire<ManyMethods>,
            wire10: Wire<ManyMethods>,
            wire11: Wire<ManyMethods>, wire12: Wire<ManyMethods>, wire13: Wire<ManyMethods>, wire14: Wire<ManyMethods>,
            wire15: Wire<ManyMethods>,
            wire16: Wire<ManyMethods>, wire17: Wire<ManyMethods>, wire18: Wire<ManyMethods>, wire19: Wire<ManyMethods>,
            wire20: Wire<ManyMethods>,
            wire21: Wire<ManyMethods>, wire22: Wire<ManyMethods>, wire23: Wire<ManyMethods>, wire24: Wire<ManyMethods>,
            wire25: Wire<ManyMethods>
    }

    init(_ context: Context) {}
}
