import CBackplane

/// The version of this host, which equals that of the SDK with which it was built.
public enum HostVersion {
    /// The version as text, such as `1.2.0`.
    public static let text = String(cString: bp_sdk_version)
}
