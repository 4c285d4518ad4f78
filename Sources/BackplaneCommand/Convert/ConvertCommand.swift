import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneReports
import BackplaneTerminal
import FoundationEssentials

/// The command `backplane convert`: writes a manifest in another format.
///
/// The content is converted as written: nothing is merged, expanded or omitted.
struct ConvertCommand: Sendable {
    var manifest: String
    /// The target format; `nil` converts a property list to JSON, and JSON to XML.
    var format: ManifestFormat?
    /// The path of the output file, or `nil` for standard output.
    var output: String?
    /// A Boolean value that indicates whether an existing file may be replaced.
    var force = false
    /// A Boolean value that indicates whether to convert a plain Nemo Logic manifest to Backplane's manifest format.
    var upgrade = false

    func run() -> Int32 {
        do {
            let source = try ManifestFile.read(manifest)
            let format = format ?? (ManifestFormat(of: source) == .json ? .xml : .json)
            if format == .binary, output == nil, Terminal.outputIsTerminal {
                return Output.refuse(
                    "a binary property list cannot be printed on a terminal; choose a file with --output")
            }
            let value: ManifestValue, bytes: Data
            do throws(BackplaneError) {
                value = try read(source)
                // Encode before upgrading, because the locations in errors are those of the file.
                let spelled = try value.encoded(as: format)
                bytes = upgrade ? try upgraded(value).encoded(as: format) : spelled
            } catch {
                return refuse(error, of: source)
            }
            if format == .json { remarkOnForeign(value) }
            if let output {
                try ManifestFile.create(output, with: bytes, like: manifest, replaces: force)
            } else {
                Output.write(bytes: bytes)
            }
            return 0
        } catch {
            return Output.fail(error)
        }
    }

    private func read(_ source: Data) throws(BackplaneError) -> ManifestValue {
        let value = try ManifestValue(parsing: source)
        guard case .dictionary = value else {
            throw BackplaneError(.manifestWrongType, "expected a dictionary, found \(value.kind)", at: manifest)
        }
        return value
    }

    private func upgraded(_ value: ManifestValue) throws(BackplaneError) -> ManifestValue {
        guard value.isNemoLogic else {
            if let error = value.versionError { throw error }
            Output.remark("\(manifest): there is nothing to upgrade")
            return value
        }
        for key in value.keysThatAnUpgradeWakes {
            Output.remark("\(manifest): \(key.printable): was ignored before, and takes effect now")
        }
        return value.upgraded
    }

    /// Reports an error in the manifest, with its line if known.
    private func refuse(_ error: BackplaneError, of source: Data) -> Int32 {
        Output.remark(ManifestDocument(parsing: source, path: manifest).problem(of: error).report(in: manifest))
        return 1
    }

    private func remarkOnForeign(_ value: ManifestValue) {
        for (location, kind) in value.foreignToJSON {
            let spelling = kind == "data" ? "base64" : "seconds since 2001"
            Output.remark(
                "\(manifest): \(location.printable): \(kind) becomes \(spelling), because JSON has no such type")
        }
    }
}
