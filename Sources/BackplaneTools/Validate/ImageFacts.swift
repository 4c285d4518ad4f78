import Backplane
import BackplaneHost
import Foundation

/// The properties of a library that can be read without running its code.
struct ImageFacts: Codable, Sendable {
    /// The reason why a host does not trust the file, or why it is damaged.
    var refusal: BackplaneError?
    /// The reasons why a host does not find the entry function, or rejects the identity section.
    var entry, identity: BackplaneError?
    var contents: Contents?

    struct Contents: Codable, Sendable {
        var exports, libraries, initialisers, choosers: [String]
        var hasSwift, hasRust, isStripped, hasStartFiles: Bool
        var relocatesText, hasExecutableStack, hasWritableCode: Bool
        /// The retroactive conformances, and the modules that use `Bundle.module`.
        var retroactive, resourceBundles: [String]
    }

    init(of path: String, in folder: LoadFolder) {
        do throws(BackplaneError) {
            _ = try LibraryCopy(of: path, in: folder).checked()
        } catch {
            switch error.code {
            case .pluginNoEntry: entry = error
            case .pluginNoIdentity, .pluginABIMismatch, .pluginToolchainMismatch, .hostStaticRuntime: identity = error
            default:
                refusal = error
                return
            }
        }
        guard let bytes = FileManager.default.contents(atPath: path) else { return }
        do throws(ELFImage.Defect) {
            let image = try ELFImage(Array(bytes))
            contents = try Contents(image)
            if entry != nil { identity = Self.identity(of: image, path) }
        } catch {
            refusal = refusal ?? BackplaneError(.pluginDamaged, "the library is incomplete: \(error)", at: path)
        }
    }

    /// Returns the error that a host would report next if it had found the entry function.
    private static func identity(of image: ELFImage, _ path: String) -> BackplaneError? {
        do throws(BackplaneError) {
            let identity = try LibraryIdentity(of: image, at: path)
            try identity.requireABI(at: path)
            try SwiftRuntime.ofThisProcess.require(for: identity, at: path)
            return nil
        } catch {
            return error
        }
    }
}

extension ImageFacts.Contents {
    fileprivate init(_ image: ELFImage) throws(ELFImage.Defect) {
        let demands = try image.demands()
        exports = image.interposable.filter { $0 != LibraryFile.entry }
        (libraries, initialisers, hasSwift, isStripped) = (
            demands.needed, demands.initialisers, image.hasSwift, image.isStripped
        )
        (choosers, hasStartFiles) = (demands.choosers, demands.hasStartFiles)
        hasRust = image.section(named: ".comment")?.prefix(4_096).firstRange(of: Array("rustc version".utf8)) != nil
        (relocatesText, hasExecutableStack) = (demands.relocatesText, demands.hasExecutableStack)
        hasWritableCode = demands.hasWritableCode
        retroactive = try image.retroactiveConformances()
        resourceBundles = try image.usersOfResourceBundles()
    }
}
