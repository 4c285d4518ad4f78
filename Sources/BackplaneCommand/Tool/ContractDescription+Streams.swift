import Backplane

extension ContractDescription {
    /// The names of the streams, which are listed separately from other methods; `nil` if there are none.
    var streams: [String]? {
        let names = methods.filter(\.isStream).map(\.name)
        return names.isEmpty ? nil : names
    }
}
