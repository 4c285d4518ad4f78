import CBackplane
import Foundation
import Testing

@testable import Backplane

@Suite struct LayoutRefusalTests {
    /// Why a type is refused, without the type where a part of it is named; `nil`: it is not.
    private func refusal(of type: Any.Type) -> String? {
        do {
            _ = try layout(of: type)
            return nil
        } catch {
            return (error as? LayoutRefusal)?.reason.components(separatedBy: ", where ").last
        }
    }

    @Test func `a class is refused wherever it is`() {
        #expect(refusal(of: Cover.self) == "`Cover`, a class")
        #expect(refusal(of: Bound.self) == "`Bound.cover` is `Cover`, a class")
        #expect(refusal(of: [Cover].self) == "`Array<Cover>`, which contains `Cover`, a class")
        #expect(refusal(of: Cover?.self) == "`Optional<Cover>`, which contains `Cover`, a class")
        #expect(refusal(of: [String: [Bound]].self) == "`Bound.cover` is `Cover`, a class")
        #expect(refusal(of: Library.self) == "`Library.shelf.bound.cover` is `Cover`, a class")
        #expect(refusal(of: Bindings.self) == "`Bindings.covers` contains `Cover`, a class")
        #expect(refusal(of: Wrapper.self) == "`Wrapper.bound.cover` is `Cover`, a class")
        #expect(refusal(of: (Int, sleeve: Cover).self) == "`sleeve` is `Cover`, a class")
        #expect(refusal(of: Phantom<Held>.self) == "`Phantom<Held>` contains `Held`, a class")
        #expect(refusal(of: Loan.self) == "`Loan.to.1` contains `Cover`, a class")
        #expect(refusal(of: ActorType.self) == "`ActorType`, a class")
    }

    @Test func `existentials, functions and metatypes are refused`() {
        #expect(refusal(of: Any.self) == "`Any`, an existential type")
        #expect(refusal(of: (any Codable).self)?.hasSuffix(", an existential type") == true)
        #expect(refusal(of: (any Collection<Int>).self)?.hasSuffix(", an existential type") == true)
        #expect(refusal(of: (any Error).self) == "`Error`, an existential type")
        #expect(refusal(of: AnyObject.self) == "`AnyObject`, an existential type")
        #expect(
            refusal(of: Result<Int, any Error>.self)
                == "`Result<Int, Error>`, which contains `Error`, an existential type")
        #expect(refusal(of: (() -> Void).self) == "`() -> ()`, a function")
        #expect(refusal(of: Handler.self) == "`Handler.run` is `() -> Int`, a function")
        #expect(refusal(of: Int.Type.self) == "`Int.Type`, a metatype")
        #expect(refusal(of: (any Codable.Type).self)?.hasSuffix(", a metatype") == true)
    }

    @Test func `types of the toolchain that are not on the list are refused`() {
        #expect(
            refusal(of: AnyHashable.self)
                == "`AnyHashable`, a type of Swift that is not known to be safe to pass")
        #expect(
            refusal(of: [String: AnyHashable].self)
                == "`Dictionary<String, AnyHashable>`, which contains `AnyHashable`, a type of Swift that is not known to be safe to pass"
        )
        #expect(
            refusal(of: AttributedString.self)?.contains("FoundationEssentials that is not known to be safe") == true)
        #expect(
            refusal(of: Predicate<Int>.self)
                == "`Predicate<Pack{Int}>`, a type with a generic parameter that is a pack, a value or fixed by an extension"
        )
        #expect(refusal(of: UnsafePointer<Int>.self)?.contains("not known to be safe") == true)
        #expect(refusal(of: UnsafeRawPointer.self)?.contains("not known to be safe") == true)
        #expect(refusal(of: StaticString.self)?.contains("not known to be safe") == true)
        #expect(refusal(of: ContinuousClock.Instant.self)?.contains("Swift that is not known to be safe") == true)
        #expect(refusal(of: CharacterSet.self)?.contains("Foundation that is not known to be safe") == true)
        #expect(refusal(of: JSONDecoder.self) == "`JSONDecoder`, a class")
        #expect(refusal(of: KeyPath<Left.Order, Int>.self)?.hasSuffix(", a class") == true)
    }

    @Test func `elements of a set and keys of a dictionary hash as the standard library has it`() {
        #expect(
            refusal(of: Set<Tag>.self)
                == "`Set<Tag>`, which contains `Tag`, an element of a `Set` that does not have the standard library's hashing"
        )
        #expect(
            refusal(of: [Tag: Int].self)
                == "`Dictionary<Tag, Int>`, which contains `Tag`, a key of a `Dictionary` that does not have the standard library's hashing"
        )
        #expect(refusal(of: Set<[Tag]>.self)?.contains("an element of a `Set`") == true)
        #expect(refusal(of: [Tag?: Int].self)?.contains("a key of a `Dictionary`") == true)
        #expect(refusal(of: Set<[String: Tag]>.self)?.contains("an element of a `Set`") == true)
        #expect(
            refusal(of: Tagged.self)
                == "`Tagged.tags` contains `Tag`, an element of a `Set` that does not have the standard library's hashing"
        )
        #expect(refusal(of: TaggedTwice.self)?.contains("`TaggedTwice.set` contains `Tag`") == true)
    }

    @Test func `values of a dictionary, and sets of standard types in standard types, need no more than a layout`() {
        #expect(refusal(of: [Int: Tag].self) == nil)
        #expect(refusal(of: Set<[Int?]>.self) == nil)
        #expect(refusal(of: [Range<Int>: [Tag]].self) == nil)
        #expect(refusal(of: Set<Set<UUID>>.self) == nil)
    }

    @Test func `types of C are refused, but for the call frame`() {
        #expect(refusal(of: bp_pair.self) == "`bp_pair`, a C type")
        #expect(refusal(of: timespec.self) == "`timespec`, a C type")
        #expect(refusal(of: Timed.self) == "`Timed.time` is `timespec`, a C type")
        #expect(refusal(of: bp_call.self) == nil)
    }

    @Test func `types that cannot be copied are refused`() {
        #expect(
            refusal(of: NoncopyableParameter<Ticket>.self)
                == "`NoncopyableParameter<Ticket>` contains `Ticket`, a type that cannot be copied")
    }

    @Test func `generic parameters that are packs, values or fixed are refused`() {
        let reason = "a type with a generic parameter that is a pack, a value or fixed by an extension"
        #expect(refusal(of: Pack<Int, String>.self) == "`Pack<Pack{Int, String}>`, \(reason)")
        #expect(refusal(of: Numbered<3>.self) == "`Numbered<3>`, \(reason)")
        #expect(refusal(of: Outer<Bool>.Fixed.self)?.hasSuffix(reason) == true)
        #expect(refusal(of: [2 of Int].self)?.hasSuffix(reason) == true)
    }

    @Test func `references without ownership are references to classes`() {
        #expect(refusal(of: Weak.self) == "`Weak.cover` contains `Cover`, a class")
        #expect(refusal(of: Unowned.self) == "`Unowned.cover` is `Cover`, a class")
    }

    @Test func `a type that grows without end is refused`() {
        #expect(refusal(of: Growing<Int>.self)?.contains("nested deeper than 64 types") == true)
        let doubling = refusal(of: Doubling<Int>.self)
        #expect(doubling?.contains("more than 10000 parts") == true)
        #expect((doubling?.count ?? .max) < 500)
    }

    @Test func `a refused type is not taken for one that was described`() {
        var reader = LayoutReader()
        for _ in 0..<2 {
            #expect(throws: LayoutRefusal.self) { try reader.layout(of: Bound.self) }
        }
        let fine = try? reader.layout(of: Left.Order.self)
        #expect(fine?.hasPrefix("#0=") == true)
    }
}

private final class Cover {}
private final class Held: Sendable {}
private actor ActorType {}
private struct Bound { var title: String, cover: Cover }
private struct Library { var shelf: Shelf }
private struct Shelf { var bound: [Bound] }
private struct Bindings { var covers: [Cover] }
private enum Wrapper { case none, bound(Bound) }
private struct Loan { var to: (name: String, [Cover])? }
private struct Handler { var run: () -> Int }
private struct Tag: Hashable { var text: String }
private struct Tagged { var tags: Set<Tag> }
private struct TaggedTwice { var tag: Tag, set: Set<Tag> }
private struct Timed { var time: timespec }
private struct Ticket: ~Copyable { var id: Int }
private struct NoncopyableParameter<T: ~Copyable> { var id: Int }
private struct Pack<each T> { var values: (repeat each T) }
private struct Numbered<let n: Int> { var id: Int }
private struct Weak { weak var cover: Cover? }
private struct Unowned { unowned let cover: Cover }
private indirect enum Growing<T> { case leaf(T), node(Growing<[T]>) }
private indirect enum Doubling<T> { case leaf(T), node(Doubling<(T, T)>) }
