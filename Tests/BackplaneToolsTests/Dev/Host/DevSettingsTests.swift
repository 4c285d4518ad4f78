import BackplaneHost
import FoundationEssentials
import Testing

@testable import BackplaneTools

struct DevSettingsTests {
    private func settings(_ section: String, _ swaps: ChangeOptions? = nil) -> DevSettings {
        let text = #"{"manifestVersion": 1, "managers": {}, "swap": \#(section)}"#
        var settings = DevSettings(manifest: "backplane.json", environment: nil, pluginPaths: [], options: []) {
            ManifestDocument(parsing: Data(text.utf8))
        }
        settings.swaps = swaps
        return settings
    }

    @Test func `a swap waits for long calls no longer than the next save should, unless it is told to`() {
        let brief = DrainPolicy.upTo(.milliseconds(200), then: .retry(attempts: 100, within: .seconds(10)))
        #expect(settings("{}").swapOptions == ChangeOptions(drain: brief))
        #expect(
            settings("{}", ChangeOptions(allowsMissingMethods: true)).swapOptions
                == ChangeOptions(drain: brief, allowsMissingMethods: true))
        #expect(settings(#"{"retryFor": 60}"#).swapOptions == nil, "the manifest's, which the host knows")
        let told = ChangeOptions(drain: .upTo(.seconds(1), then: .cancel))
        #expect(settings("{}", told).swapOptions == told)
        #expect(settings(#"{"retryFor": 60}"#, told).swapOptions == told)
    }
}
