import Backplane

/// What `backplane new` refuses.
extension BackplaneError.Code {
    /// The name is no name for what is to be made.
    static let newName = Self(rawValue: "new.name")
    /// Something is there already.
    static let newExists = Self(rawValue: "new.exists")
    /// The package's tools version is too old for what is added.
    static let newTools = Self(rawValue: "new.tools")
    static let newUnwritable = Self(rawValue: "new.unwritable")
}
