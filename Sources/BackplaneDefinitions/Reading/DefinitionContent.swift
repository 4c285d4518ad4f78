package import Backplane
import BackplaneNetwork

/// The content of a web service's files: its methods, and the header fields shared in its folder.
package struct DefinitionContent: Sendable {
    package let definition: WebServiceDefinition
    /// The shared header fields; empty if there is no such file.
    let sharedHeaders: HTTPHeaders
    /// The non-fatal problems, beginning with those of the definition.
    package let warnings: [DefinitionProblem]

    /// Reads the files of a component, whose models are the types of its contract.
    ///
    /// - Parameter serializers: The names of the serializers, apart from the built-in one.
    /// - Throws: A code of `definition` for faulty files, with all errors as causes if there are several.
    package init(_ files: DefinitionFiles, serializers: some Sequence<String>) throws(BackplaneError) {
        try self.init(files, DefinitionNames(serializers: serializers, models: nil))
    }

    init(_ files: DefinitionFiles, _ names: DefinitionNames) throws(BackplaneError) {
        let document = DefinitionDocument(parsing: files.definition, path: files.path, names: names)
        definition = try document.sound()
        guard let bytes = files.sharedHeaders else {
            (sharedHeaders, warnings) = ([:], document.problems)
            return
        }
        let shared = DefinitionDocument(sharedHeaders: bytes, path: files.sharedPath)
        (sharedHeaders, warnings) = (try shared.sound().headers, document.problems + shared.problems)
    }
}
