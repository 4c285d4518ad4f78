import Backplane
public import CBackplane

/// The plugin of the calling components, in its own library.
struct RelayPlugin: Plugin {
    static let id = "org.backplane.benchmark-relay"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(RelayManager.self)
        registrar.add(ManyWiresManager.self)
        registrar.add(SeriesReaderManager.self)
    }
}

/// The library's entry function, which the host calls once after loading the library.
@c @implementation
public func backplane_plugin_entry_v1(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>)
    -> Int32
{
    RelayPlugin.enter(offer, answer)
}
