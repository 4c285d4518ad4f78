import ArgumentParser
import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTools
import FoundationEssentials

extension BackplaneTool {
    struct Convert: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "convert",
            abstract: "Convert a manifest between JSON and property list.",
            discussion: """
                The manifest is converted as it is written: environments, variables and unknown keys are kept. \
                Redundant keys are left out. A value that the other format cannot represent is an error.

                EXAMPLES
                  backplane convert manifests/almanac.plist
                  backplane convert manifests/almanac.plist --upgrade --output almanac.json
                  backplane convert manifests/almanac.json --to binary --output almanac.plist --force
                """)

        @OptionGroup var manifest: ManifestArguments
        @Option(
            help: ArgumentHelp(
                "The output format: json, xml or binary (default: json from a property list, xml from JSON).",
                valueName: "format"),
            completion: .list(Convert.formats), transform: Convert.format)
        var to: ManifestFormat?
        @Option(help: ArgumentHelp("The file to write (default: standard output).", valueName: "file")) var output:
            String?
        @Flag(help: "Overwrite the file if it exists.") var force = false
        @Flag(help: "Convert a plain Nemo Logic manifest to Backplane's manifest format.") var upgrade = false

        private static let formats = ManifestFormat.allCases.map(\.rawValue)

        private static func format(_ name: String) throws -> ManifestFormat {
            guard let format = ManifestFormat(rawValue: name) else {
                throw ValidationError("expected one of \(formats.joined(separator: ", ")), found `\(name)`")
            }
            return format
        }

        func run() throws {
            let manifest = try ManifestChoice.taken(manifest.path)
            do {
                let source = try ManifestFile.read(manifest)
                let format = to ?? (ManifestFormat(of: source) == .json ? .xml : .json)
                if format == .binary, output == nil, Terminal.outputIsTerminal {
                    throw ExitCode(
                        Output.refuse(
                            "a binary property list cannot be printed on a terminal; choose a file with --output"))
                }
                let value: ManifestValue, bytes: Data
                do throws(BackplaneError) {
                    value = try read(source, manifest)
                    // First encode the manifest unchanged, so that errors contain the locations of the file.
                    _ = try value.encoded(as: format)
                    bytes = try (upgrade ? upgraded(value, manifest) : value).shortened.encoded(as: format)
                } catch {
                    Output.remark(
                        ManifestDocument(parsing: source, path: manifest).problem(of: error).report(in: manifest))
                    throw ExitCode.failure
                }
                if format == .json { remarkOnForeign(value, manifest) }
                if let output {
                    try ManifestFile.create(output, with: bytes, like: manifest, replaces: force)
                } else {
                    Output.write(bytes: bytes)
                }
            } catch let error as BackplaneError {
                throw ExitCode(Output.fail(error))
            }
        }

        private func read(_ source: Data, _ manifest: String) throws(BackplaneError) -> ManifestValue {
            let value = try ManifestValue(parsing: source)
            guard case .dictionary = value else {
                throw BackplaneError(.manifestWrongType, "expected a dictionary, found \(value.kind)", at: manifest)
            }
            return value
        }

        private func upgraded(_ value: ManifestValue, _ manifest: String) throws(BackplaneError) -> ManifestValue {
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

        private func remarkOnForeign(_ value: ManifestValue, _ manifest: String) {
            value.visit { value, path, _ in
                let spelling: String
                switch value {
                case .data: spelling = "base64"
                case .date: spelling = "seconds since 2001"
                default: return
                }
                Output.remark(
                    "\(manifest): \(path.description.printable): \(value.kind) becomes \(spelling), because JSON has no such type"
                )
            }
        }
    }
}
