public import CBackplane

extension Plugin {
    /// Answers the host's offer by describing the plugin.
    ///
    /// The exported entry function calls this.
    ///
    /// - Returns: `BP_OK`; or `BP_UNIMPLEMENTED`, without touching `answer`, if host and plugin have no ABI number in
    ///   common.
    public static func enter(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>) -> Int32 {
        bp_answer.describe(id, version, to: offer, answer) { register(in: &$0) }
    }
}

extension bp_answer {
    /// Answers an offer for a plugin with the given id, version and components.
    package static func describe(
        _ id: String, _ version: Version, to offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>,
        register: (inout Registrar) -> Void
    ) -> Int32 {
        guard
            Int(offer.pointee.size) >= MemoryLayout<bp_offer>.offset(of: \bp_offer.get_interface)!
                + MemoryLayout<bp_get_interface>.size
        else {
            return Int32(BP_UNIMPLEMENTED)
        }
        let abi = bp_common_abi(offer.pointee.abi_min, offer.pointee.abi_max, UInt32(BP_ABI_MIN), UInt32(BP_ABI_MAX))
        guard abi != BP_NO_ABI else { return Int32(BP_UNIMPLEMENTED) }

        var registrar = Registrar(services: HostServices(offer.pointee.get_interface), pluginVersion: version)
        register(&registrar)

        var own = bp_answer()
        own.size = UInt32(MemoryLayout<bp_answer>.size)
        own.abi = abi
        own.lane_revision = BP_LANE_REVISION
        own.id = .forever(id)
        own.version = .forever(version.description)
        own.toolchain = .forever(SwiftCompiler.build)
        own.components = forever(registrar.records.map(bp_component.init))
        own.component_count = registrar.records.count
        own.problems = .forever(registrar.problems.joined(separator: "\n"))
        own.self_check = bp_check_self()
        own.write(to: answer)
        return Int32(BP_OK)
    }
}

extension bp_answer {
    /// Writes as many bytes of the answer as the host's `size` covers.
    fileprivate func write(to answer: UnsafeMutablePointer<bp_answer>) {
        var own = self
        own.size = min(size, answer.pointee.size)
        withUnsafeBytes(of: own) {
            UnsafeMutableRawPointer(answer).copyMemory(from: $0.baseAddress!, byteCount: Int(own.size))
        }
    }
}
