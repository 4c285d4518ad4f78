import CBackplane

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
