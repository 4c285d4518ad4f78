/// The number of things that a manifest may have, beyond the limits of every document.
package enum ManifestLimits {
    package static let managers = 10_000
    package static let environments = 100
}
