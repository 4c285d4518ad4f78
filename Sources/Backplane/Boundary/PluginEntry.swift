public import CBackplane

/// The entry function of each library that links the SDK, which the host calls once after loading the library.
///
/// It describes the library's one plugin. Hosts and test programs contain the function as well, but nothing calls it.
///
/// - Parameters:
///   - offer: The host's side of the handshake.
///   - answer: The plugin's description; without an id if the library does not have exactly one plugin.
/// - Returns: `BP_OK`; or `BP_UNIMPLEMENTED`, without touching `answer`, if the two have no ABI number in common.
@c @implementation
public func backplane_plugin_entry_v1(
    _ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>
) -> Int32 {
    do throws(BackplaneError) {
        return try pluginOfThisLibrary().enter(offer, answer)
    } catch {
        return bp_answer.describe("", "0.0.0", to: offer, answer) { $0.problems = [error.message] }
    }
}

/// Returns the type that conforms to ``Plugin`` in the image that contains this code.
///
/// - Throws: `plugin.invalid-answer` if there is none, if it is generic, or if there are several.
private func pluginOfThisLibrary() throws(BackplaneError) -> any Plugin.Type {
    // The metadata of `any Plugin` consists of its kind, its flags, and the protocol's descriptor.
    let existential: Any.Type = (any Plugin).self
    let descriptor = unsafeBitCast(existential, to: UnsafePointer<UnsafeRawPointer>.self)[2]
    var names: [String] = [], plugin: (any Plugin.Type)?, position = 0
    while true {
        let found = bp_next_conformance(descriptor, &position)
        guard let name = found.name else { break }
        if let type = found.type, let witnesses = found.witnesses {
            // A metatype of an existential type is a pair of metadata and witness table.
            let found = unsafeBitCast((type, witnesses), to: (any Plugin.Type).self)
            names.append("`\(String(reflecting: found))`")
            plugin = found
        } else {
            names.append("the generic `\(String(cString: name))`")
        }
    }
    if names.count == 1, let plugin { return plugin }
    let remedy =
        switch names.count {
        case 0: "declare one as `public struct HelloPlugin: Plugin`, since a release build drops internal ones"
        case 1: "remove its parameters"
        default: "build each as a library of its own"
        }
    throw BackplaneError(
        .pluginInvalidAnswer,
        "expected one type in the library that conforms to `Plugin`, found "
            + "\(names.isEmpty ? "none" : names.sorted().joined(separator: ", ")); \(remedy)")
}

extension Plugin {
    /// Answers the host's offer by describing the plugin.
    package static func enter(_ offer: UnsafePointer<bp_offer>, _ answer: UnsafeMutablePointer<bp_answer>) -> Int32 {
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

    /// Writes as many bytes of the answer as the host's `size` covers.
    private func write(to answer: UnsafeMutablePointer<bp_answer>) {
        var own = self
        own.size = min(size, answer.pointee.size)
        withUnsafeBytes(of: own) {
            UnsafeMutableRawPointer(answer).copyMemory(from: $0.baseAddress!, byteCount: Int(own.size))
        }
    }
}

/// The Swift compiler that built this copy of the SDK and the library or program that contains the copy.
package enum SwiftCompiler {
    /// The major and minor version.
    ///
    /// Builds of one minor version share a runtime.
    package static var version: Version {
        Version(Int(swiftIdentity.swift) / 1_000, Int(swiftIdentity.swift) % 1_000)
    }

    /// A string that is equal only for the same build of the compiler.
    ///
    /// It consists of Swift's patch version, and the compiler of the C target with its commit. Neither is sufficient:
    /// snapshots of one patch differ in their commits, and `CC` may select another C compiler, independent of the Swift
    /// version.
    package static var build: String { "Swift \(patch), \(String(cString: bp_sdk_toolchain))" }
}

// Only patches of one minor version meet in a process.
#if compiler(>=6.4)
private let patch = SwiftCompiler.version.description  // its patches are not known here yet: add them
#elseif compiler(>=6.3.4)
private let patch = "6.3.4 or later"
#elseif compiler(>=6.3.3)
private let patch = "6.3.3"
#elseif compiler(>=6.3.2)
private let patch = "6.3.2"
#elseif compiler(>=6.3.1)
private let patch = "6.3.1"
#else
private let patch = "6.3.0"
#endif

/// A record of the section `backplane` that states the Swift version of this library (`backplane.h`, part 5).
///
/// Its 24 bytes are next to the record of the C target, which cannot know the version. A constant in a section has to
/// consist of literals.
private typealias SwiftIdentity = (magic: UInt64, size: UInt32, abiMin: UInt32, abiMax: UInt32, swift: UInt32)

#if compiler(>=6.8)
// A compiler that is not known here yet: add it.
@section("backplane") @used private let swiftIdentity: SwiftIdentity = (0x454E_4C50_4B43_4142, 24, 0, 0, 0)
#elseif compiler(>=6.7)
@section("backplane") @used private let swiftIdentity: SwiftIdentity = (0x454E_4C50_4B43_4142, 24, 0, 0, 6_007)
#elseif compiler(>=6.6)
@section("backplane") @used private let swiftIdentity: SwiftIdentity = (0x454E_4C50_4B43_4142, 24, 0, 0, 6_006)
#elseif compiler(>=6.5)
@section("backplane") @used private let swiftIdentity: SwiftIdentity = (0x454E_4C50_4B43_4142, 24, 0, 0, 6_005)
#elseif compiler(>=6.4)
@section("backplane") @used private let swiftIdentity: SwiftIdentity = (0x454E_4C50_4B43_4142, 24, 0, 0, 6_004)
#else
@section("backplane") @used private let swiftIdentity: SwiftIdentity = (0x454E_4C50_4B43_4142, 24, 0, 0, 6_003)
#endif
