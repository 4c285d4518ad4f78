import Backplane

/// What `backplane new` refuses.
extension BackplaneError.Code {
    /// The name is no name for what is to be made.
    static let newName = Self(rawValue: "new.name")
    /// Something is there already.
    static let newExists = Self(rawValue: "new.exists")
    /// The package's tools version is too old for what is added.
    static let newTools = Self(rawValue: "new.tools")
    /// A file of somebody's own has to be changed by hand.
    static let newByHand = Self(rawValue: "new.by-hand")
    /// A signal has come before all was done.
    static let newInterrupted = Self(rawValue: "new.interrupted")
    static let newUnwritable = Self(rawValue: "new.unwritable")
}
