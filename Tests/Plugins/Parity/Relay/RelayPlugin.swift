import Backplane
public import CBackplane

/// Who calls another library, in a library of its own.
struct RelayPlugin: Plugin {
    static let id = "org.backplane.tests.parity-relay"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(ValuesRelay.self)
        registrar.add(TaskContextRelay.self)
        registrar.add(FailuresRelay.self)
        registrar.add(FramesRelay.self)
        registrar.add(SequencesRelay.self)
        registrar.add(LedgerReader.self)
        registrar.add(EqualVersionReader.self)
        registrar.add(LaterReader.self)
        registrar.add(OtherMajorReader.self)
        registrar.add(OtherKindReader.self)
    }
}

@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    RelayPlugin.enter(offer, answer)
}
