import TestFixtures
import Testing

/// How many protocol conformances the SDK brings into a plugin. Those of a plugin as `backplane new` makes it are
/// counted where such packages are built.
@Suite(.timeLimit(.minutes(2)))
struct PluginConformanceTests {
    @Test(
        .enabled(
            if: PluginConformances.tools != nil,
            "the toolchain has no `llvm-nm` and `swift-demangle`, so nothing is counted"),
        arguments: ["Almanac", "Bookshelf", "_BusyLoop", "Turnstile1"])
    func `a plugin carries no more conformances of the SDK than are recorded`(name: String) throws {
        #expect(try PluginConformances.excesses(of: "\(TestHost.libraries)/lib\(name).so") == [])
    }
}
