import CBackplane

/// The version of this host, which is that of the SDK it was built with.
public enum HostVersion {
    public static let text = String(cString: bp_sdk_version)
}
