import Foundation
import TestFixtures
import Testing

@testable import BackplaneTools

/// The type of a plugin that more components can be put into.
struct PluginModuleTests {
    @Test(arguments: [
        "struct A: Plugin {}", "import Backplane\n\n@frozen\npublic final class A\n    : B, Plugin {}",
        "    public enum A: Sendable,\n        Plugin {\n    }",
    ])
    func `the one that says it is a plugin is it`(text: String) {
        #expect(PluginModule.pluginType(in: text) == "A")
    }

    @Test(arguments: [
        "", "struct A { let plugin: Plugin }", "// struct A: Plugin {}", "struct A: Plugin {}\nstruct B: Plugin {}",
        "struct A: PluginLike {}",
    ])
    func `without just one there is none to put anything into`(text: String) {
        #expect(PluginModule.pluginType(in: text) == nil)
    }
}
