extension ManagerLayers {
    /// Adds a file for each component, and one for the contracts if they belong to the same module.
    func addSources(to blueprint: inout Blueprint, in folder: String) {
        if contracts == nil { blueprint.add("\(folder)/\(name)Contracts.swift", contractsText) }
        blueprint.add("\(folder)/\(manager).swift", managerText)
        if hasStore { blueprint.add("\(folder)/\(store).swift", storeText) }
        if hasService {
            blueprint.add("\(folder)/\(communication).swift", communicationText)
            blueprint.add("\(folder)/\(service).swift", serviceText)
        }
    }

    func addTests(to blueprint: inout Blueprint, in folder: String, module: String, plugin: String) {
        blueprint.add("\(folder)/\(manager)Tests.swift", testText(module: module, plugin: plugin))
    }

    /// Adds the sample data that the service reads until it has a server, in the folder of the manifest.
    func addSample(to blueprint: inout Blueprint, besideManifest manifest: String) {
        guard hasService else { return }
        let folder = manifest.lastIndex(of: "/").map { manifest[...$0] } ?? ""
        blueprint.add(folder + sample, sampleText)
    }
}
