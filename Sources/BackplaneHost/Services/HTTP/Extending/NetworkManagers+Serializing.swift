import Backplane
import BackplaneDefinitions
import FoundationEssentials

extension NetworkManagers {
    /// The function that calls a serializer, a manager, with a response of a definition.
    var serialize: LoadingOptions.Serialize {
        { [self] manager, response, call async throws(BackplaneError) -> Data in
            try await find(manager, as: Serializing.self).serialize(response, call)
        }
    }
}
