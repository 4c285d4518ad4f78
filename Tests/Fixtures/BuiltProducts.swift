import BackplaneHost

/// The programs and libraries of this build.
package enum BuiltProducts {
    /// Where SwiftPM puts them: beside this program.
    package static let folder = RunningExecutable.folder!
}
