#if Engines
import ArgumentParser

/// What commands take that work on a manifest and on nothing else.
struct ManifestArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("A manifest: JSON, or a property list (default: \(ManifestChoice.text)).", valueName: "manifest"))
    var path: String?
}

extension HostArguments {
    /// The settings with a manifest: the one that is given, or the one of the current folder.
    func settings(_ manifest: String?) throws -> HostSettings {
        do { return try settings.taking(manifest) } catch { throw ValidationError(error.description) }
    }
}

/// Reads words; what is wrong with them is wrong usage.
func understood<Words>(_ read: () throws(CallWords.Misuse) -> Words) throws -> Words {
    do { return try read() } catch { throw ValidationError(error.description) }
}
#endif
