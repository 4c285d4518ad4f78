import Backplane
import BackplaneHost
import Foundation

/// What can be read of a library without running any of it.
struct ImageFacts: Codable, Sendable {
    /// Why a host does not trust the file, or why it is no whole library.
    var refusal: BackplaneError?
    /// Why a host does not find its entry, or its identity does not fit.
    var entry, identity: BackplaneError?
    var contents: Contents?

    struct Contents: Codable, Sendable {
        var exports, libraries, initialisers, choosers: [String]
        var hasSwift, isStripped, hasStartFiles: Bool
        var relocatesText, hasExecutableStack, hasWritableCode: Bool
        /// Conformances, and modules.
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
        do throws(ELFImage.Problem) {
            let image = try ELFImage(Array(bytes))
            contents = try Contents(image)
            if entry != nil { identity = Self.identity(of: image, path) }
        } catch {
            refusal = refusal ?? BackplaneError(.pluginDamaged, "the library is not whole: \(error)", at: path)
        }
    }

    /// What a host that had found the entry would have said next.
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
    fileprivate init(_ image: ELFImage) throws(ELFImage.Problem) {
        let demands = try image.demands()
        exports = image.interposable.filter { $0 != LibraryFile.entry }
        (libraries, initialisers, hasSwift, isStripped) = (demands.needed, demands.initialisers, image.hasSwift, image.isStripped)
        (choosers, hasStartFiles) = (demands.choosers, demands.hasStartFiles)
        (relocatesText, hasExecutableStack) = (demands.relocatesText, demands.hasExecutableStack)
        hasWritableCode = demands.hasWritableCode
        retroactive = try image.retroactiveConformances()
        resourceBundles = try image.usersOfResourceBundles()
    }
}
