public import BackplaneNetwork

// The words of transfers in a store and on the command line. Plugins, which link `BackplaneNetwork`, need none of
// these.

extension ExistingFile: Codable, CaseIterable {
    /// All policies.
    public static var allCases: [ExistingFile] { [.replace, .keep, .number] }
}

extension RestartReason: Codable {}

extension TransferState.Phase: Codable {}
