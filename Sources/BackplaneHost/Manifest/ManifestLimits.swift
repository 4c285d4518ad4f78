/// The limits of a manifest in addition to those of any document.
package enum ManifestLimits {
    package static let managers = 10_000
    package static let environments = 100
}
