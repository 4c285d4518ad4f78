import Backplane

extension ManifestDocument {
    /// The files of a definition that the built-in class serves for the manifest.
    package struct DefinitionPlace: Sendable, Hashable {
        /// The path that identifies the definition in a swap.
        package var definition: String
        /// The paths of all files that belong to the definition if they exist.
        package var files: Set<String>
    }

    /// The files of the definitions that the built-in class serves for the manifest, as far as their keys are readable.
    package var definitionPlaces: Set<DefinitionPlace> {
        var places: Set<DefinitionPlace> = []
        for name in manifest.managers.keys {
            for definition in definitions(of: name) where definition.role == .networkService {
                guard DefinedService.classNames.contains(definition.className),
                    case .string(let service)? = definition.configuration["serviceName"]
                else { continue }
                var path: String?
                if case .string(let given)? = definition.configuration["definition"] { path = given }
                let source = source(ofDefinition: path, named: service)
                places.insert(DefinitionPlace(definition: source.definition, files: Set(source.candidates)))
            }
        }
        return places
    }

    /// Returns the location of a definition's files, relative to the manifest's folder.
    func source(of settings: DefinedService.Configuration) -> DefinitionSource {
        source(ofDefinition: settings.definition, named: settings.serviceName)
    }

    private func source(ofDefinition path: String?, named name: String) -> DefinitionSource {
        let folder = self.path.map { FilePath.folder(of: $0) } ?? "."
        return DefinitionSource(name: name, path: FilePath.absolute(FilePath.join(folder, path ?? ".")))
    }
}
