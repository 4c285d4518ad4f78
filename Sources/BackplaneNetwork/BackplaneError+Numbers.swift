public import Backplane

extension BackplaneError {
    /// The stable number of a load's error; 9 for errors unrelated to the network.
    ///
    /// | number | code |
    /// |---|---|
    /// | 1 | `network.failed` |
    /// | 2 | `network.unparsable` |
    /// | 3 | `network.empty` |
    /// | 4 | `network.invalid-request` |
    /// | 5 | `call.cancelled` |
    /// | 7 | `network.status` |
    /// | 8 | `network.rejected` |
    /// | 10 | `network.file` |
    /// | 11 | `network.refused` |
    /// | 12 | `network.timeout` |
    /// | 13 | `network.too-large` |
    /// | 14 | `network.unsupported` |
    /// | 15 | `network.body` |
    /// | 16 | `network.redirect` |
    /// | 17 | `network.pages` |
    /// | 18 | `network.insecure` |
    /// | 19 | `network.malformed` |
    /// | 20 | `network.shut-down` |
    /// | 21 | `call.deadline` |
    /// | 22 | `network.credential` |
    /// | 23 | `network.sign-in` |
    public var networkNumber: Int {
        switch code {
        case .networkFailed: 1
        case .networkUnparsable: 2
        case .networkEmpty: 3
        case .networkInvalidRequest: 4
        case .callCancelled: 5
        case .networkStatus: 7
        case .networkRejected: 8
        case .networkFile: 10
        case .networkRefused: 11
        case .networkTimeout: 12
        case .networkTooLarge: 13
        case .networkUnsupported: 14
        case .networkBody: 15
        case .networkRedirect: 16
        case .networkPages: 17
        case .networkInsecure: 18
        case .networkMalformed: 19
        case .networkShutDown: 20
        case .callDeadline: 21
        case .networkCredential: 22
        case .networkSignIn: 23
        default: 9
        }
    }

    /// A Boolean value that indicates whether the cause was a lack of connectivity, so that a later attempt may
    /// succeed.
    public var isConnectivity: Bool { code == .networkFailed || code == .networkTimeout }
}
