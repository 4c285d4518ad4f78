import BackplaneHost

/// The programs and libraries of this build.
package enum BuiltProducts {
    /// The folder of the products, which also contains this program.
    package static let folder = RunningExecutable.folder!
}
