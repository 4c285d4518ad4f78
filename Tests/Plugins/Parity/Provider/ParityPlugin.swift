import Backplane
public import CBackplane

/// What is called, in a library of its own.
struct ParityPlugin: Plugin {
    static let id = "org.backplane.tests.parity"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(ValuesManager.self)
        registrar.add(TaskContextManager.self)
        registrar.add(FailuresManager.self)
        registrar.add(FramesManager.self)
        registrar.add(LedgerManager.self)
        registrar.add(FullStateManager.self)
        registrar.add(BoundManager.self)
        registrar.add(SequencesManager.self)
        registrar.add(SequenceWatchManager.self)
    }
}

@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    ParityPlugin.enter(offer, answer)
}
