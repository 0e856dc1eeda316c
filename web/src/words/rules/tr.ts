/** How each game is played, in Turkish. */

import type { RuleWords } from "./en";

export const tr: RuleWords = {
  "cp.aim": "Dört oyuncu, iki takım; eşiniz karşınızda oturur. 10 puana ilk ulaşan takım kazanır.",
  "cp.trump": "Kozu söyleyen beş kart alır ve birini kapalı koyar. Onun rengi kozdur ve yalnız kendisi bilir. Sonra herkesin on üç kartı olur.",
  "cp.follow": "Açılan renkten kartınız varsa onu oynayın. Yoksa istediğinizi oynayın.",
  "cp.win": "Eli en büyük koz alır, koz yoksa açılan rengin en büyüğü. Burada koz maça.",
  "cp.ask": "Açılan renk sizde yoksa kozu sorabilirsiniz. Koz herkese gösterilir, kozunuz varsa koz oynamak zorundasınız.",
  "cp.power": "Koz kapalıyken hiçbir şeyi geçmez: o renkten bir kart ancak koz gösterildikten sonra oynanırsa koz sayılır.",
  "cp.pile": "Eller ortada kalır. Üst üste iki eli kendiniz alın, ortadakilerin hepsi sizin: ilk seferde en az üç, sonra en az iki.",
  "cp.round": "Toplanan yedi el turu kazandırır: 1 puan. On üçünün hepsi Court: 2 puan, koz karşı takımınsa 3.",
  "cp.coins": "Her turda herkes bahis koyar, kazananlar ortayı paylaşır. Court olunca kaybedenler bahsi iki kez öder.",

  "k20.aim": "Dört oyuncu, herkes tek başına, 20 el. Her elden önce bir oyuncu oyunu seçer: kozla el almak ya da bir şeyden kaçmak.",
  "k20.declare": "Oyun boyunca beş kez seçersiniz: iki koz, üç ceza. Her ceza bütün masada en çok iki kez oynanır.",
  "k20.contracts": "Elin içinde ne varsa eli alana yazılır.",
  "k20.follow": "Açılan renkten kartınız varsa onu oynayın. Eli alan sonrakini açar.",
  "k20.trump": "Kozda, rengi olmayan koz oynamak zorundadır. Burada koz kupa.",
  "k20.throw": "Cezalarda, rengi olmayan ceza kartı atmak zorundadır. Erkek almazda bu papaz ya da valedir.",
  "k20.hearts": "Kupa almaz ve Rıfkı almazda, biri atılana kadar kupa açılmaz; elinizde başka bir şey kalmadıysa açılır.",
  "k20.end": "20 elden sonra en yüksek toplam bütün oyunun parasını alır.",

  "ks.aim": "Dört oyuncu, herkes tek başına, yediliden asa 32 kart. On dört dağıtım: yedisinde bir şeyden kaçılır, yedisinde aynı şey alınır.",
  "ks.contracts": "İlk yedi dağıtım puan götürür, öbür yedisi aynısını getirir. Yedincide her şey birden sayılır.",
  "ks.follow": "Koz yoktur. Açılan renkten varsa onu, yoksa istediğinizi oynayın; eli açılan rengin en büyüğü alır.",
  "ks.hearts": "Kupa ya da Rıfkı sayılıyorsa, kupa ancak elinizde başka bir şey yoksa açılır.",
  "ks.king": "Rıfkı sayılıyorsa, açılan renk sizde yoksa ya da kupa açıldıysa onu hemen vermek zorundasınız.",
  "ks.end": "On dört dağıtımdan sonra en yüksek toplam ortadaki parayı alır.",

  "kl.aim": "Kısa oyunun on dört oyunu, ama seçen oyuncular: herkes her birini bir kez oynatır, toplam 56 dağıtım.",
  "kl.choose": "Seçme sırası sizdeyken sekiz kartınıza bakar, listenizde kalanlardan birini seçersiniz.",
  "kl.end": "Uzun bir akşam: istediğiniz dağıtımda kalkıp dönebilirsiniz. En yüksek toplam ortadaki parayı alır.",

  "kr.aim": "Dört ila on iki oyuncu. Biri Asilere önderlik eder ve puan sözü vermiştir. Ötekilerden bazıları onun yanındadır ve söylenen kartı oynayana kadar bunu bilmez.",
  "kr.points": "Puan getiren kartlar. Ötekiler puan getirmez.",
  "kr.bid": "Önce ihale yapılır. Henüz bilmediğiniz eşlerinizle birlikte alacağınız puanı söylersiniz; her ihale öncekinden en az 5 fazladır. Pas geri alınmaz.",
  "kr.convert": "En yükseği söyleyen Asilerin lideridir, kozu söyler ve bir Kralı asi yapan kartları gizlice belirler.",
  "kr.join": "Belirlenen kartı oynayan hemen Asi olur: yeri kırmızıya döner, sonraki karttan önce herkes görür.",
  "kr.trick": "Açılan renkten varsa onu oynayın. Eli en büyük koz alır, koz yoksa açılan rengin en büyüğü. Burada koz sinek.",
  "kr.win": "Bütün kartlar oynanınca Asilerin puanları toplanır. İhale tutarsa her Asi, tutmazsa her Kral ihale kadar puan yazar.",
  "kr.coins": "Turu kazanan taraf ortadaki parayı paylaşır. Son turdan sonra en yüksek toplam oyunu kazanır.",
};
