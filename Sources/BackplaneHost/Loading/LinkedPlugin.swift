package import Backplane
package import BackplaneBoundary
import CBackplane

/// A plugin that is linked into this program.
package struct LinkedPlugin: Sendable {
    let name: String
    /// A function that returns the plugin's description and provides it with the host's services.
    let describe: @Sendable (bp_get_interface) throws(BackplaneError) -> PluginDescription
    /// A function that returns the folder with the plugin's files; `nil` if it has none.
    let resources: @Sendable () throws(BackplaneError) -> String?

    package init(_ plugin: any Plugin.Type) {
        name = plugin.id
        describe = { getInterface throws(BackplaneError) in
            try PluginDescription(asking: plugin, getInterface: getInterface)
        }
        resources = { () throws(BackplaneError) in try ResourceFolder.ofModule(declaring: plugin) }
    }

    /// Creates a plugin from only its entry function, as for a library.
    package init(named name: String, entry: @escaping @Sendable PluginDescription.Entry) {
        self.name = name
        describe = { getInterface throws(BackplaneError) in
            try PluginDescription(asking: entry, getInterface: getInterface)
        }
        resources = { nil }
    }

    /// Creates a plugin from the function that registers its components.
    package init(id: String, version: Version, register: @escaping @Sendable (inout Registrar) -> Void) {
        name = id
        describe = { getInterface throws(BackplaneError) in
            try PluginDescription(id: id, version: version, getInterface: getInterface, register: register)
        }
        resources = { nil }
    }
}
