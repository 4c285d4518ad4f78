import Backplane
import BackplaneHost
import FoundationEssentials

/// `backplane convert`: spells a manifest in another format, as it is written: nothing is merged, expanded or left out.
struct ConvertCommand: Sendable {
    var manifest: String
    /// `nil`: JSON for a property list, XML for JSON.
    var format: ManifestFormat?
    /// A file; `nil`: standard output.
    var output: String?
    /// A file that is there may be replaced.
    var force = false
    /// Put a plain Nemo Logic manifest into our own dialect.
    var upgrade = false

    func run() -> Int32 {
        do {
            let source = try ManifestFile.read(manifest)
            let format = format ?? (ManifestFormat(of: source) == .json ? .xml : .json)
            if format == .binary, output == nil, Terminal.outputIsTerminal {
                return Output.refuse("a binary property list is not for a terminal; give it a file with --output")
            }
            let value = try read(source)
            let bytes = try value.encoded(as: format)
            if format == .json { remarkOnForeign(value) }
            if let output {
                try ManifestFile.create(output, with: bytes, replaces: force)
            } else {
                Output.write(bytes)
            }
            return 0
        } catch {
            return Output.fail(error)
        }
    }

    private func read(_ source: Data) throws(BackplaneError) -> ManifestValue {
        let value: ManifestValue
        do { value = try ManifestValue(parsing: source) } catch {
            throw BackplaneError(error.code, error.message, at: manifest)
        }
        guard case .dictionary = value else {
            throw BackplaneError(.manifestWrongType, "expected a dictionary, found \(value.kind)", at: manifest)
        }
        guard upgrade else { return value }
        guard value.isNemoLogic else {
            Output.remark("\(manifest): there is nothing to upgrade")
            return value
        }
        for key in value.keysThatAnUpgradeWakes { Output.remark("\(manifest): \(key): was ignored, and means something now") }
        return value.upgraded
    }

    private func remarkOnForeign(_ value: ManifestValue) {
        for (location, kind) in value.foreignToJSON {
            let spelling = kind == "data" ? "base64" : "seconds since 2001"
            Output.remark("\(manifest): \(location): \(kind) becomes \(spelling), since JSON has no such kind")
        }
    }
}
