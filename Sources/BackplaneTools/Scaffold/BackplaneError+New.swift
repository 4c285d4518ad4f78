import Backplane

// The errors of `backplane new`.
extension BackplaneError.Code {
    /// The name is not valid for the new item.
    static let newName = Self(rawValue: "new.name")
    /// A file, a target or a product of that name already exists.
    static let newExists = Self(rawValue: "new.exists")
    /// The package's tools version is too old for the new item.
    static let newTools = Self(rawValue: "new.tools")
    /// A file or a folder cannot be written.
    static let newUnwritable = Self(rawValue: "new.unwritable")
}
