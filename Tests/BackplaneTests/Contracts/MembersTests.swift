import Testing

@testable import Backplane

@Suite struct MembersTests {
    struct ValidContract: Contract {
        static let version: Version = "1.2.0"
        let first = AsyncMethod<Int, [String]>()
        let second = SyncMethod<Nothing, String?>("secondOfAll")
        let third = AsyncMethod<[String: Int], Nothing>()
    }
    struct DuplicateNames: Contract {
        static let version: Version = "1.0.0"
        let first = AsyncMethod<Int, Int>()
        let second = AsyncMethod<Int, Int>("first")
    }
    struct ExtraProperty: Contract {
        static let version: Version = "1.0.0"
        let first = AsyncMethod<Int, Int>()
        let limit = 3
    }

    struct Generic<Value: Codable & Sendable>: Contract {
        static var version: Version { "1.0.0" }
        let put = AsyncMethod<Value, Nothing>()
        let get: SyncMethod<Nothing, Value?>
        /// Not in the order of the properties.
        init() {
            get = SyncMethod("take")
            _ = put
        }
    }
    final class NoStruct: Contract {
        static let version: Version = "1.0.0"
        let first = AsyncMethod<Int, Int>()
    }

    @Test func `members are the stored properties in the order they stand in`() {
        let members = Members<ValidContract>()
        #expect(members.problems == [])
        #expect(
            members.description
                == ContractDescription(
                    name: "ValidContract", version: "1.2.0",
                    methods: [
                        MethodDescription(name: "first", kind: .async),
                        MethodDescription(name: "secondOfAll", kind: .sync),
                        MethodDescription(name: "third", kind: .async),
                    ]))
    }

    @Test func `a member's number is its place`() {
        #expect(memberNumber(of: \ValidContract.first) == 0)
        #expect(memberNumber(of: \ValidContract.second) == 1)
        #expect(memberNumber(of: \ValidContract.third) == 2)
    }

    @Test func `two members of one name are a problem`() {
        #expect(
            Members<DuplicateNames>().problems == [
                "DuplicateNames has two members named `first`; give one of them another name"
            ])
    }

    @Test func `a property that is no method is a problem`() {
        #expect(
            Members<ExtraProperty>().problems == [
                "ExtraProperty.limit is not an AsyncMethod, a SyncMethod or a StreamMethod; a contract has no other stored properties"
            ])
    }

    @Test func `members of a generic contract are read like others, however they were made`() {
        let members = Members<Generic<[String]>>()
        #expect(members.problems == [])
        #expect(
            members.description.methods == [
                MethodDescription(name: "put", kind: .async),
                MethodDescription(name: "take", kind: .sync),
            ])
        #expect(members.all.map { $0.type == AsyncMethod<[String], Nothing>.self } == [true, false])
    }

    @Test func `a contract that is no struct is a problem`() {
        #expect(Members<NoStruct>().problems == ["NoStruct must be a struct that contains only methods"])
    }
}
