import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Loading all that a manifest names.
@Suite(.timeLimit(.minutes(5)))
struct PluginLoaderTests {
    @Test func `what cannot be loaded is reported in the order of the manifest, whichever step it fails in`()
        async throws
    {
        let host = try TestHost(
            #"""
            {"manifestVersion": 1, "managers": {"Clock": {"className": "ClockManager"}}, "plugins": [
                {"library": "NotHere"}, {"library": "Clock", "version": "[9.0,10.0)"}, {"library": "Clock"}, {"library": "Clock"}, {"library": "Neither"}
            ]}
            """#)
        let errors = await host.host.check().map(\.error)
        #expect(errors.map(\.location) == [0, 1, 3, 4].map { "/plugins/\($0)/library" })
        #expect(errors.map(\.code) == [.pluginNotFound, .versionOutOfRange, .pluginDuplicate, .pluginNotFound])
        let time = try await host.call("Clock", "now")
        #expect(time.isEmpty == false, "those that failed keep no other out")
        await host.host.stop()
    }
}
